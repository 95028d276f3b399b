with

user_weeks as (

    select
        org_id,
        week_start_date,
        lag(week_start_date) over by_user as week_before,
        lead(week_start_date) over by_user as week_after
    from {{ ref('int_user_weeks') }}
    window by_user as (partition by org_id, user_id order by week_start_date)

),

active as (

    select
        org_id,
        week_start_date,
        count(*) as active_users,
        count(case when week_before is null then 1 end) as new_users,
        count(
            case when week_before = week_start_date - 7 then 1 end
        ) as retained_users,
        count(
            case when week_before < week_start_date - 7 then 1 end
        ) as resurrected_users
    from user_weeks
    group by 1, 2

),

churned as (

    select
        org_id,
        cast(week_start_date + 7 as date) as week_start_date,
        count(*) as churned_users
    from user_weeks
    where week_after is null or week_after > week_start_date + 7
    group by 1, 2

),

final as (

    select
        org_id,
        week_start_date,
        weeks.is_complete_week,
        lag(weeks.is_complete_week) over (
            partition by org_id
            order by week_start_date
        ) as is_week_before_complete,
        weeks.is_left_edge,
        {% for column in [
            'active_users', 'new_users', 'retained_users', 'resurrected_users'
        ] %}
        case
            when weeks.is_users_known then coalesce(active.{{ column }}, 0)
        end as {{ column }},
        {% endfor %}
        case
            when weeks.is_complete_week
            then coalesce(churned.churned_users, 0)
        end as churned_users
    from {{ ref('int_org_weeks') }} as weeks
    left join active using (org_id, week_start_date)
    left join churned using (org_id, week_start_date)

)

select * from final
