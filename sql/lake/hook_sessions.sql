-- Sessions that hook events name, the latest first, with the first event of each.
select
    session_id,
    max(fetched_at) as fetched_at,
    epoch_ms(min(recorded_at)) as began_ms
from (
    select
        try(json_extract_string(
            readable(item),
            '$.input.session_id'
        )) as session_id,
        try_cast(
            try(json_extract_string(readable(item), '$.recorded_at'))
            as timestamp
        ) as recorded_at,
        fetched_at
    from {{ rows }}
)
where session_id is not null
group by 1
order by 2 desc, 1
