{% set metrics = [
    'billable_tokens', 'tool_calls', 'user_messages', 'git_commits',
    'git_prs_created', 'files_created', 'files_edited',
] %}

with

user_days as (

    select
        users.*,
        {{ week_of('users.activity_date') }} as week_start_date,
        coalesce(history.team, '(no team)') as team
    from {{ ref('fct_user_day') }} as users
    left join {{ ref('dim_user_history') }} as history
        on users.org_id = history.org_id
        and users.user_id = history.user_id
        and {{ is_valid('history', 'users.activity_date') }}

),

teams as (

    select
        org_id,
        week_start_date,
        team,
        count(
            distinct case
                when is_active and user_id not like '(%' then user_id
            end
        ) as active_users,
        {% for metric in metrics %}
        {{ sum_of_metric(metric) }} as {{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from user_days
    group by 1, 2, 3

),

final as (

    select
        org_id,
        week_start_date,
        teams.team,
        coalesce(weeks.is_complete_week, false) as is_complete_week,
        teams.active_users,
        {% for metric in metrics %}
        teams.{{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from teams
    left join {{ ref('int_org_weeks') }} as weeks
        using (org_id, week_start_date)

)

select * from final
