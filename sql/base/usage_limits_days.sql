-- One row per org and day of `usage_limits`. NULL is no limit.
select
    org_id,
    activity_date,
    to_count(item.globalLimit) as global_limit,
    fetched_at
from parsed
