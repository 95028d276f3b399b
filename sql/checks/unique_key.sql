-- Keys of several columns that more than one row has. Equal keys have equal
-- hashes, and grouping hashes is several times faster than grouping keys.
with

repeated as (

    select hash({{ columns }}) as key_hash
    from {{ model }}
    group by 1
    having count(*) > 1

)

select
    {{ columns }},
    count(*) as row_count
from {{ model }}
where hash({{ columns }}) in (select repeated.key_hash from repeated)
group by {{ columns }}
having count(*) > 1
