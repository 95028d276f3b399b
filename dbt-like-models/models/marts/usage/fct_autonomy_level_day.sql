select
    org_id,
    activity_date,
    autonomy_level,
    {{ sum_of_shares('share') }} as share
from {{ ref('stg_platform__tools_autonomy_levels') }}
group by 1, 2, 3
