-- Which MCP servers are used, whatever their spelling?
-- The 28 days to the last complete day; days without a call are no days of use.
-- The result is empty if no MCP server was called.
select
    org_id,
    dim_mcp_server.display_name as mcp_server,
    cast(sum(fct_mcp_server_day.invocations) as bigint) as invocations,
    count(distinct fct_mcp_server_day.activity_date) as days_used,
    dim_mcp_server.spelling_count as spellings
from main.fct_mcp_server_day
inner join main.dim_mcp_server using (org_id, mcp_server)
inner join main.mart_data_health using (org_id)
where fct_mcp_server_day.activity_date > data_through - 28
    and fct_mcp_server_day.activity_date <= data_through
    and fct_mcp_server_day.invocations is distinct from 0
group by 1, 2, 5
order by 1, 3 desc nulls last, 2
