with

servers as (

    select
        org_id,
        activity_date,
        'mcp_servers' as policy,
        mcp_server as value,
        cast(invocations as decimal(38, 6)) as amount
    from {{ ref('fct_mcp_server_day') }}
    where mcp_server != '(unnamed)' and invocations > 0

),

models as (

    select
        org_id,
        activity_date,
        'models' as policy,
        model_id as value,
        cast(billable_tokens as decimal(38, 6)) as amount
    from {{ ref('fct_model_day') }}
    where
        model_id != '(unattributed)'
        and {{ is_any_above_zero(
            ['billable_tokens', 'input_tokens', 'output_tokens']
        ) }}

),

levels as (

    select
        org_id,
        activity_date,
        'autonomy_level' as policy,
        levels.autonomy_level as value,
        cast(
            try_cast(
                levels.share * cast(days.tool_calls as double)
                as decimal(28, 6)
            ) as decimal(38, 6)
        ) as amount
    from {{ ref('fct_autonomy_level_day') }} as levels
    left join {{ ref('fct_org_day') }} as days using (org_id, activity_date)
    where
        levels.autonomy_level in (
            'manual', 'auto-low', 'auto-medium', 'auto-high'
        )
        and levels.share > 0

),

denied as (

    select distinct
        org_id,
        trim(value) as value
    from {{ ref('stg_platform__controls_policies') }}
    where setting = 'commandDenylist' and trim(value) != ''

),

-- The command itself, or followed by arguments.
commands as (

    select
        hooks.org_id,
        hooks.activity_date,
        'denied_commands' as policy,
        denied.value,
        sum(cast(hooks.invocations as decimal(28, 6))) as amount
    from {{ ref('fct_hook_day') }} as hooks
    inner join denied
        on hooks.org_id = denied.org_id
        and substr(concat(hooks.command, ' '), 1, length(denied.value) + 1)
        = concat(denied.value, ' ')
    where hooks.invocations > 0
    group by 1, 2, 3, 4

),

final as (

    select * from servers

    union all

    select * from models

    union all

    select * from levels

    union all

    select * from commands

)

select * from final
