-- Which MCP servers are used, whatever their spelling?
-- The last 28 days.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.fct_mcp_server_day
    group by 1
)

select
    org_id,
    dim_mcp_server.display_name as mcp_server,
    cast(sum(fct_mcp_server_day.invocations) as bigint) as invocations,
    count(distinct fct_mcp_server_day.activity_date) as days_used,
    dim_mcp_server.spelling_count as spellings
from main.fct_mcp_server_day
inner join main.dim_mcp_server using (org_id, mcp_server)
inner join last_days using (org_id)
where fct_mcp_server_day.activity_date > last_days.last_date - 28
group by 1, 2, 5
order by 1, 3 desc nulls last, 2
