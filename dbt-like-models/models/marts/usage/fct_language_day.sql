select
    org_id,
    activity_date,
    language,
    {{ sum_of_counts('file_operations') }} as file_operations
from {{ ref('stg_platform__productivity_languages') }}
group by 1, 2, 3
