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

final as (

    select * from servers

    union all

    select * from models

    union all

    select * from levels

)

select * from final
