-- The first key that occurs in two records, and the line of the first one.
with
    records as (
        select
            csv_line,
            [{{ key }}] as key
        from {{ texts }}
        where {{ is_key }}
    )

select
    min(csv_line, 2)[2] as csv_line,
    concat(
        '(',
        array_to_string(list_transform(key, lambda value: coalesce(value, 'NULL')), ', '),
        ') is already used on line ',
        min(csv_line)
    ) as value
from records
group by key
having count(*) > 1
order by min(csv_line)
limit 1
