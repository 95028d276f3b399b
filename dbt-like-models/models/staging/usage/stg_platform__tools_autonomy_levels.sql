select
    org_id,
    activity_date,
    coalesce(
        nullif(replace(lower(trim(level_key)), '_', '-'), ''), '(unnamed)'
    ) as autonomy_level,
    share,
    fetched_at
from {{ source('platform', 'tools_autonomy_levels') }}
