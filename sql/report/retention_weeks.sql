-- Cohorts of fewer than five users have no share, because the active users of a
-- week and the size of each cohort are known.
with
    weeks as (
        select
            *,
            cohort_users >= 5
            and week_number <= 26
            and cohort_week > last_day - 364 as is_asked,
            hides(
                (org_id, week_start_date, week_number = 0),
                if(is_asked, cohort_users, 0),
                cohort_users,
                cohort_week
            ) as is_hidden
        from main.mart_retention_week
        inner join chosen using (org_id)
        where retention is not null
    )

select
    org_id,
    cast(cohort_week as varchar) as cohort,
    week_number,
    cohort_users,
    active_users,
    round(retention, 4) as retention,
    is_left_edge
from weeks
where not is_hidden
order by org_id, cohort_week, week_number
