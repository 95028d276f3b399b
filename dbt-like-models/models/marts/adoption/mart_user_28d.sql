-- Relations that are read twice are named where they are read, because an
-- import CTE would be copied.
with

last_days as (

    {{ last_days_of_users() }}

),

recent as (

    select
        org_id,
        user_id,
        count(case when is_active then 1 end) as active_days_28d,
        {{ sum_of_counts('sessions') }} as sessions_28d,
        {{ sum_of_counts('tool_calls') }} as tool_calls_28d,
        {{ sum_of_counts('user_messages') }} as user_messages_28d,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens_28d
    from {{ ref('fct_user_day') }}
    inner join last_days using (org_id)
    where activity_date > last_date - 28
    group by 1, 2

),

final as (

    select
        org_id,
        user_id,
        members.user_email,
        members.user_label,
        last_days.last_date as as_of_date,
        members.last_active_date,
        coalesce(recent.active_days_28d, 0) as active_days_28d,
        case
            when recent.active_days_28d >= {{ var('heavy_days') }} then 'heavy'
            when recent.active_days_28d >= {{ var('moderate_days') }}
            then 'moderate'
            when recent.active_days_28d >= 1 then 'light'
            else 'idle'
        end as usage_group,
        recent.sessions_28d,
        recent.tool_calls_28d,
        recent.user_messages_28d,
        recent.billable_tokens_28d
    from {{ ref('dim_user') }} as members
    inner join last_days using (org_id)
    left join recent using (org_id, user_id)
    where user_id not like '(%'

)

select * from final
