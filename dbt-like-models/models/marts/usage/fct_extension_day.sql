select
    org_id,
    activity_date,
    extension,
    {{ sum_of_counts('file_operations') }} as file_operations
from {{ ref('stg_platform__productivity_extensions') }}
group by 1, 2, 3
