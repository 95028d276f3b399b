-- Cohorts of fewer than five users have no share.
select
    org_id,
    cast(cohort_week as varchar) as cohort,
    week_number,
    cohort_users,
    active_users,
    round(retention, 4) as retention,
    is_left_edge
from main.mart_retention_week
inner join chosen using (org_id)
where
    cohort_users >= 5
    and retention is not null
    and week_number <= 26
    and cohort_week > last_day - 364
order by org_id, cohort_week, week_number
