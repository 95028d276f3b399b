select
    org_id,
    activity_date,
    coalesce(server, '') as spelling,
    coalesce(nullif(server_key, ''), '(unnamed)') as mcp_server,
    invocations,
    fetched_at
from {{ source('platform', 'tools_mcp_servers') }}
