-- The number of days for which the latest settings keep sessions.
select days
from (
    select
        try_cast(
            try(json_extract_string(item, '$.revision')) as bigint
        ) as revision,
        try_cast(
            try(json_extract_string(
                item, '$.settings.sessionRetentionDays'
            )) as double
        ) as days
    from (select readable(item) as item from {{ rows }})
)
where revision is not null
order by revision desc
limit 1
