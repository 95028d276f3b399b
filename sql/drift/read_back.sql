-- Which items come back from a shape as they were served: they have its fields in its
-- order, each as documented where it is, and what a shape does not show is as it
-- should be. Of those of one day the first stands for all. `alike` is the number of
-- the shape, 0 of the documented one, and NULL for an item that does not come back.
-- What few items need is asked of NULL for the others: the engine would work it out
-- for all.
create or replace temp table {{ into }} as
select
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
                when told = respelled(other) then told
            end as served
        from (
            select
                *,
                cast(to_json(read) as varchar) as told,
                case when told <> item then item end as other
            from (
                select
                    *,
                    try(from_json(item, {{ shape }})) as read
                from (
{{ items }}
                ) as items
            ) as items_read
        ) as items_told
    ) as items_served
) as items_compared
group by activity_date, is_alike, case when not is_alike then place end
