-- The first key that occurs in two records.
select
    {{ key }} as key,
    min(record) as first,
    min(record, 2)[2] as second
from ({{ texts }})
where {{ is_key }}
group by all
having count(*) > 1
order by first
limit 1
