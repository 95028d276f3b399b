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
    -- no filter: it would gather items of megabytes before they are read
    select case when ordinal < 16 then try(json_keys(item)) end as keys
    from raw
) as sampled
where keys is not null
group by keys
order by count(*) desc, keys
limit 3
