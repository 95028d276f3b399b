-- The only definition of complete weeks, and of weeks so early that a user who
-- first appears in them may have been active before.
{{ config(materialized='table') }}

with

first_dates as (

    select
        org_id,
        min(activity_date) as first_date
    from (
        {{ served_days() }}
    ) as days
    group by 1

),

days as (

    {{ analytics_days() }}

),

first_weeks as (

    select
        org_id,
        {{ week_of('min(activity_date)') }} as first_known_week
    from days
    where is_users_known = 1
    group by 1

),

weeks as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        count(case when is_complete = 1 then 1 end) as complete_days,
        count(case when is_users_known = 1 then 1 end) as user_days
    from days
    group by 1, 2

),

final as (

    select
        weeks.org_id,
        weeks.week_start_date,
        weeks.complete_days = 7 as is_complete_week,
        weeks.user_days > 0 as is_users_known,
        coalesce(
            weeks.week_start_date
            < first_weeks.first_known_week + 7 * {{ var('left_edge_weeks') }},
            false
        ) as is_left_edge
    from weeks
    inner join first_dates using (org_id)
    left join first_weeks using (org_id)
    where weeks.week_start_date >= {{ week_of('first_dates.first_date') }}

)

select * from final
