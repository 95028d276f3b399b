with

tools as (

    select * from {{ ref('stg_platform__tools_tools') }}

),

grouped_tools as (

    select * from {{ ref('stg_platform__tools_by_name') }}

),

servers as (

    select * from {{ ref('stg_platform__tools_mcp_servers') }}

),

skills as (

    select * from {{ ref('stg_platform__tools_skills') }}

),

commands as (

    select * from {{ ref('stg_platform__tools_slash_commands') }}

),

hooks as (

    select * from {{ ref('stg_platform__tools_hooks') }}

),

levels as (

    select * from {{ ref('stg_platform__tools_autonomy_levels') }}

),

tool_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as invocations
    from tools
    group by 1, 2

),

grouped_tool_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as invocations
    from grouped_tools
    group by 1, 2

),

server_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as invocations
    from servers
    group by 1, 2

),

skill_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as invocations
    from skills
    group by 1, 2

),

command_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as invocations
    from commands
    group by 1, 2

),

hook_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_counts('invocations') }} as invocations
    from hooks
    group by 1, 2

),

level_sums as (

    select
        org_id,
        activity_date,
        {{ sum_of_shares('share') }} as share
    from levels
    group by 1, 2

),

known_days as (

    select org_id, activity_date from tool_sums

    union

    select org_id, activity_date from grouped_tool_sums

    union

    select org_id, activity_date from server_sums

    union

    select org_id, activity_date from skill_sums

    union

    select org_id, activity_date from command_sums

    union

    select org_id, activity_date from hook_sums

    union

    select org_id, activity_date from level_sums

),

final as (

    select
        known_days.org_id,
        known_days.activity_date,
        tool_sums.invocations as tools_invocations,
        grouped_tool_sums.invocations as grouped_tool_calls,
        server_sums.invocations as servers_invocations,
        skill_sums.invocations as skills_count,
        command_sums.invocations as commands_count,
        hook_sums.invocations as hooks_count,
        level_sums.share as level_shares
    from known_days
    left join tool_sums
        on known_days.org_id = tool_sums.org_id
        and known_days.activity_date = tool_sums.activity_date
    left join grouped_tool_sums
        on known_days.org_id = grouped_tool_sums.org_id
        and known_days.activity_date = grouped_tool_sums.activity_date
    left join server_sums
        on known_days.org_id = server_sums.org_id
        and known_days.activity_date = server_sums.activity_date
    left join skill_sums
        on known_days.org_id = skill_sums.org_id
        and known_days.activity_date = skill_sums.activity_date
    left join command_sums
        on known_days.org_id = command_sums.org_id
        and known_days.activity_date = command_sums.activity_date
    left join hook_sums
        on known_days.org_id = hook_sums.org_id
        and known_days.activity_date = hook_sums.activity_date
    left join level_sums
        on known_days.org_id = level_sums.org_id
        and known_days.activity_date = level_sums.activity_date

)

select * from final
