select
    org_id,
    activity_date,
    mcp_server,
    {{ sum_of_counts('invocations') }} as invocations
from {{ ref('stg_platform__tools_mcp_servers') }}
group by 1, 2, 3
