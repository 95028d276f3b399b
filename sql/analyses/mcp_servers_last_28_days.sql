select
    dim_mcp_server.display_name as mcp_server,
    cast(sum(fct_mcp_server_day.invocations) as bigint) as invocations,
    count(distinct fct_mcp_server_day.activity_date) as days_used,
    dim_mcp_server.spelling_count as spellings
from main.fct_mcp_server_day
inner join main.dim_mcp_server
    on fct_mcp_server_day.mcp_server = dim_mcp_server.mcp_server
where
    fct_mcp_server_day.activity_date > (
        select max(activity_date) - 28
        from main.fct_mcp_server_day
    )
group by 1, 4
order by 2 desc nulls last, 1
