with

user_weeks as (

    select
        org_id,
        week_start_date,
        min(week_start_date) over (
            partition by org_id, user_id
        ) as cohort_week
    from {{ ref('int_user_weeks') }}

),

active as (

    select
        org_id,
        cohort_week,
        week_start_date,
        count(*) as active_users
    from user_weeks
    group by 1, 2, 3

),

cohorts as (

    select
        active.org_id,
        active.cohort_week,
        active.active_users as cohort_users,
        weeks.is_left_edge
    from active
    inner join {{ ref('int_org_weeks') }} as weeks
        on active.org_id = weeks.org_id
        and active.cohort_week = weeks.week_start_date
    where active.week_start_date = active.cohort_week

),

cohort_weeks as (

    select
        cohorts.org_id,
        cohorts.cohort_week,
        weeks.week_start_date,
        cast({{ days_between(
            'cohorts.cohort_week', 'weeks.week_start_date'
        ) }} / 7 as bigint) as week_number,
        cohorts.cohort_users,
        weeks.is_complete_week,
        cohorts.is_left_edge
    from cohorts
    inner join {{ ref('int_org_weeks') }} as weeks
        on cohorts.org_id = weeks.org_id
        and cohorts.cohort_week <= weeks.week_start_date

),

counted as (

    select
        org_id,
        cohort_week,
        cohort_weeks.week_number,
        week_start_date,
        cohort_weeks.cohort_users,
        case
            when cohort_weeks.is_complete_week
            then coalesce(active.active_users, 0)
        end as active_users,
        cohort_weeks.is_left_edge
    from cohort_weeks
    left join active using (org_id, cohort_week, week_start_date)

),

final as (

    select
        *,
        cast(active_users as double) / cohort_users as retention
    from counted

)

select * from final
