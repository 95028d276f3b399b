select
    org_id,
    activity_date,
    coalesce(nullif(extension, ''), '(unnamed)') as extension,
    count_value as file_operations,
    fetched_at
from {{ source('platform', 'productivity_extensions') }}
