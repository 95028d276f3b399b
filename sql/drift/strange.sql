-- The items that may differ from the documentation. Finds those that round-trip
-- through a shape: they have its fields in its order, each with its documented type,
-- and meet the conditions. Such items of one day are represented by the first, and
-- left out if the shape is the documented one. What only few items need is computed
-- on NULL for the others, because the engine would compute it for all.
create or replace temp table strange as
with

-- materialized, because the engine would read each item again for the filter
compared as materialized (

    select
        org_id,
        activity_date,
        is_alike,
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
                        org_id,
                        activity_date,
                        item_place(page, ordinal) as place,
                        item,
                        request_id,
                        try(from_json(item, {{ shape }})) as read
                    from raw
                ) as items_read
            ) as items_written
        ) as items_served
    ) as items_compared
    group by
        org_id,
        activity_date,
        is_alike,
        case when not is_alike then place end

)

select * from compared
where not is_alike or not {{ is_documented }}
