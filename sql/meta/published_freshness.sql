-- What the warehouse says of its sources, times as milliseconds.
select
    source_name || '.' || table_name as source,
    epoch_ms(loaded_at) as loaded_ms,
    warn_after_seconds,
    error_after_seconds
from meta.source_freshness
where loaded_at is not null
order by 1
