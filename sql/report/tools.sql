-- The 12 most used tools and the 12 most used MCP servers of each length of period.
-- Calls below zero leave no whole to have a share of. What stands for calls
-- without a name, such as `(unparsed)`, is not counted as a name, and neither is
-- a name without a call.
with
    used as (
        select 'tool' as kind, org_id, activity_date, tool_name as name, invocations
        from main.fct_tool_day

        union all

        select
            'server',
            servers.org_id,
            servers.activity_date,
            coalesce(names.display_name, servers.mcp_server),
            servers.invocations
        from main.fct_mcp_server_day as servers
        left join main.dim_mcp_server as names
            on
                servers.org_id = names.org_id
                and servers.mcp_server = names.mcp_server
    ),

    totals as (
        select
            kind,
            org_id,
            days,
            name,
            sum(invocations) as invocations
        from used
        inner join chosen using (org_id)
        cross join ranges
        where activity_date > last_day - days
        group by 1, 2, 3, 4
        having sum(invocations) <> 0
    ),

    ranked as (
        select
            *,
            sum(invocations) over (partition by kind, org_id, days) as all_invocations,
            min(invocations) over (partition by kind, org_id, days) as fewest,
            count_if(name not like '(%') over (partition by kind, org_id, days) as names,
            row_number() over (
                partition by kind, org_id, days
                order by invocations desc, name
            ) as place
        from totals
    )

select
    kind,
    org_id,
    days,
    name,
    cast(invocations as double) as invocations,
    case
        when fewest >= 0
        then round(cast(invocations as double) / nullif(all_invocations, 0), 4)
    end as share,
    names
from ranked
where place <= 12
order by kind, org_id, days, place
