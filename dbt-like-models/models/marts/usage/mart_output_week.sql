{% set metrics = [
    'git_commits', 'git_prs_created', 'files_created', 'files_edited',
    'billable_tokens',
] %}

with

active as (

    select
        org_id,
        week_start_date,
        count(*) as active_users
    from {{ ref('int_user_weeks') }}
    group by 1, 2

),

output as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        {% for metric in metrics %}
        {{ sum_of_metric(metric) }} as {{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ ref('fct_org_day') }}
    group by 1, 2

),

final as (

    select
        org_id,
        week_start_date,
        weeks.is_complete_week,
        case
            when weeks.is_users_known then coalesce(active.active_users, 0)
        end as active_users,
        {% for metric in metrics %}
        output.{{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ ref('int_org_weeks') }} as weeks
    left join active using (org_id, week_start_date)
    left join output using (org_id, week_start_date)

)

select * from final
