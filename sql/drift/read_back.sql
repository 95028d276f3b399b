-- Finds the items that round-trip through a shape: they have its fields in its
-- order, each with its documented type, and meet the conditions. Such items of one
-- day are represented by the first. `alike` is the number of the shape, 0 for the
-- documented one, and NULL for items that do not round-trip. What only few items
-- need is computed on NULL for the others, because the engine would compute it
-- for all.
create or replace temp table {{ into }} as
select
    org_id,
    activity_date,
    case when is_alike then {{ alike }} end as alike,
    min(place) as place,
    count(*) as stands_for,
    arg_min(item, place) as item,
    arg_min_null(request_id, place) as request_id
from (
    select
        *,
        coalesce(
            read is not null and served is not null and {{ conditions }},
            false
        ) as is_alike
    from (
        select
            *,
            case
                when other is null then item
                when written = respelled(other) then written
            end as served
        from (
            select
                *,
                cast(to_json(read) as varchar) as written,
                case when written <> item then item end as other
            from (
                select
                    *,
                    try(from_json(item, {{ shape }})) as read
                from (
{{ items }}
                ) as items
            ) as items_read
        ) as items_written
    ) as items_served
) as items_compared
group by org_id, activity_date, is_alike, case when not is_alike then place end
