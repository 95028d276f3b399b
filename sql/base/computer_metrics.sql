-- One row per org, day, computer and sample of `computer_metrics`.
select
    org_id,
    activity_date,
    computer_id,
    sampled_at,
    to_ratio(item.cpuUsedPct) as cpu_used_pct,
    to_ratio(item.cpuCount) as cpu_count,
    to_ratio(item.memUsed) as mem_used,
    to_ratio(item.memTotal) as mem_total,
    to_ratio(item.diskUsed) as disk_used,
    to_ratio(item.diskTotal) as disk_total,
    fetched_at
from parsed
