-- The most frequent list of keys in some items, and the fields of the first object
-- of each kind in one item, in order. Does not use `json_structure`: it makes a call
-- for each level, and a deeply nested item ends its thread, and with it the
-- process.
select
    keys,
    (
        select [{{ fields }}]
        from (
            select item
            from raw
            limit 1
        ) as first_item
    ) as fields
from (
    select try(json_keys(item)) as keys
    from raw
    where ordinal < 16
        and (org_id, activity_date) in (
            select
                unnest({{ org_ids }}),
                unnest(cast({{ days }} as date[]))
        )
) as sampled
where keys is not null
group by keys
order by count(*) desc, keys
limit 1
