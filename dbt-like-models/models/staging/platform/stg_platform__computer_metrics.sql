select
    org_id,
    activity_date,
    computer_id,
    sampled_at,
    cpu_used_pct,
    cpu_count,
    mem_used,
    mem_total,
    disk_used,
    disk_total,
    fetched_at
from {{ source('platform', 'computer_metrics') }}
