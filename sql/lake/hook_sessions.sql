-- Sessions that hook events name, the latest first.
select
    session_id,
    max(fetched_at) as fetched_at
from (
    select
        try(json_extract_string(
            readable(item),
            '$.input.session_id'
        )) as session_id,
        fetched_at
    from {{ rows }}
)
where session_id is not null
group by 1
order by 2 desc, 1
