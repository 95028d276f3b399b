with

servers as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        mcp_server,
        {{ sum_of_counts('invocations') }} as invocations,
        count(*) as days_used
    from {{ ref('fct_mcp_server_day') }}
    where invocations is distinct from 0
    group by 1, 2, 3

),

followed as (

    select
        *,
        lag(week_start_date) over (
            partition by org_id, mcp_server
            order by week_start_date
        ) as week_before
    from servers

),

users as (

    select
        org_id,
        week_start_date,
        case
            when count(is_mcp_user) > 0
            then count(case when is_mcp_user then 1 end)
        end as users_with_mcp
    from {{ ref('int_user_weeks') }}
    group by 1, 2

),

final as (

    select
        org_id,
        week_start_date,
        coalesce(weeks.is_complete_week, false) as is_complete_week,
        mcp_server,
        names.display_name,
        followed.invocations,
        followed.days_used,
        case
            when followed.week_before is not null then false
            when not weeks.is_left_edge then true
        end as is_first_week,
        case
            when users.org_id is null and weeks.is_users_known then 0
            else users.users_with_mcp
        end as users_with_mcp
    from followed
    left join {{ ref('dim_mcp_server') }} as names
        using (org_id, mcp_server)
    left join {{ ref('int_org_weeks') }} as weeks
        using (org_id, week_start_date)
    left join users using (org_id, week_start_date)

)

select * from final
