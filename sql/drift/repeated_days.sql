-- The days on which rows may have one key, by what is cheap to find: the key in the
-- text, and items that are no JSON, whose key is not known before base reads them.
select cast(activity_date as varchar) as day
from (
    select
        activity_date,
        key,
        case when key is null then not json_valid(item) end as is_unread
    from (
        select
            activity_date,
            item,
            {{ key }} as key
        from raw
    ) as keyed
) as keys
group by activity_date, key
having (count(*) > 1 and key <> '') or bool_or(is_unread)
