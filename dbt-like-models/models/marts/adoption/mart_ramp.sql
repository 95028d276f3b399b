{% set milestones = ['commit', 'pr', 'auto_high'] %}

with

firsts as (

    select
        org_id,
        user_id,
        {% for milestone in milestones %}
        min(first_{{ milestone }}_date) as first_{{ milestone }}_date
        {{- ',' if not loop.last }}
        {% endfor %}
    from {{ ref('int_user_ramp_weeks') }}
    group by 1, 2

),

members as (

    select
        org_id,
        user_id,
        user_label,
        first_active_date,
        {{ week_of('first_active_date') }} as cohort_week
    from {{ ref('dim_user') }}
    where user_id not like '(%' and first_active_date is not null

),

final as (

    select
        members.org_id,
        members.user_id,
        members.user_label,
        members.cohort_week,
        members.first_active_date,
        weeks.is_left_edge,
        {{ days_between('members.first_active_date', 'last_days.last_date') }}
        + 1 as known_days,
        {% for milestone in milestones %}
        {{ days_between(
            'members.first_active_date', 'firsts.first_' ~ milestone ~ '_date'
        ) }} as days_to_first_{{ milestone }}{{ ',' if not loop.last }}
        {% endfor %}
    from members
    inner join (
        {{ last_days_of_users() }}
    ) as last_days using (org_id)
    inner join {{ ref('int_org_weeks') }} as weeks
        on members.org_id = weeks.org_id
        and members.cohort_week = weeks.week_start_date
    left join firsts
        on members.org_id = firsts.org_id
        and members.user_id = firsts.user_id

)

select * from final
