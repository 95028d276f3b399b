select
    org_id,
    activity_date,
    coalesce(nullif(language, ''), '(unnamed)') as language,
    count_value as file_operations,
    fetched_at
from {{ source('platform', 'productivity_languages') }}
