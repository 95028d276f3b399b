select
    org_id,
    activity_date,
    coalesce(nullif(name, ''), '(unnamed)') as skill_name,
    count_value as invocations,
    fetched_at
from {{ source('platform', 'tools_skills') }}
