-- What is read twice is named where it is read: an import would be copied.
with

members as (

    select * from {{ ref('dim_user') }}

),

last_days as (

    select
        org_id,
        max(activity_date) as as_of_date
    from {{ ref('fct_user_day') }} as user_days
    group by 1

),

recent as (

    select
        user_days.org_id,
        user_days.user_id,
        count(*) as active_days_28d,
        {{ sum_of_counts('user_days.sessions') }} as sessions_28d,
        {{ sum_of_counts('user_days.tool_calls') }} as tool_calls_28d,
        {{ sum_of_counts('user_days.user_messages') }} as user_messages_28d,
        {{ sum_of_credits('user_days.billable_tokens') }} as billable_tokens_28d
    from {{ ref('fct_user_day') }} as user_days
    inner join last_days
        on user_days.org_id = last_days.org_id
    where user_days.activity_date > last_days.as_of_date - 28
    group by 1, 2

),

final as (

    select
        members.org_id,
        members.user_id,
        members.user_email,
        members.user_label,
        last_days.as_of_date,
        members.last_active_date,
        coalesce(recent.active_days_28d, 0) as active_days_28d,
        case
            when recent.active_days_28d >= 12 then 'heavy'
            when recent.active_days_28d >= 4 then 'moderate'
            when recent.active_days_28d >= 1 then 'light'
            else 'idle'
        end as usage_group,
        recent.sessions_28d,
        recent.tool_calls_28d,
        recent.user_messages_28d,
        recent.billable_tokens_28d
    from members
    inner join last_days
        on members.org_id = last_days.org_id
    left join recent
        on members.org_id = recent.org_id
        and members.user_id = recent.user_id
    where members.user_id not like '(%'

)

select * from final
