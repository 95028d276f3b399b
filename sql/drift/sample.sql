-- The lists of keys that most of some items have, and the fields of the first
-- object of each kind in one item, in their order. By hand: `json_structure` takes
-- a call for each level, and its thread ends with the process where an item is
-- nested deep.
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
        and activity_date in (select unnest(cast({{ days }} as date[])))
) as sampled
where keys is not null
group by keys
order by count(*) desc, keys
limit 3
