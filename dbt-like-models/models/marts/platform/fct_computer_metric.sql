select
    org_id,
    computer_id,
    sampled_at,
    cast(sampled_at as date) as sample_date,
    cpu_used_pct,
    cpu_count,
    mem_used,
    mem_total,
    disk_used,
    disk_total
from (
    {{ last_landed('stg_platform__computer_metrics', ['computer_id', 'sampled_at']) }}
) as samples
