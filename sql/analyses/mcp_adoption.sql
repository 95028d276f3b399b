-- How many users call MCP servers, and how many servers are in use?
-- Complete weeks. Users are those who called any server, because the platform
-- does not say who calls which. The result is empty if no week is complete yet.
select
    org_id,
    week_start_date,
    max(mart_output_week.active_users) as active_users,
    max(mart_mcp_week.users_with_mcp) as users_with_mcp,
    count(*) as servers,
    count(case when mart_mcp_week.is_first_week then 1 end) as new_servers,
    cast(sum(mart_mcp_week.invocations) as bigint) as invocations
from main.mart_mcp_week
inner join main.mart_output_week using (org_id, week_start_date)
where mart_mcp_week.is_complete_week
group by 1, 2
order by 1, 2 desc
