select
    org_id,
    spelling,
    max(mcp_server) as mcp_server
from {{ ref('stg_platform__tools_mcp_servers') }}
group by 1, 2
