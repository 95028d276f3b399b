-- How many of those who began in a week still use the agent weeks later?
-- Shares of each cohort, NULL if the week is not complete yet. A cohort at the
-- left edge of the history also contains users who were active before it.
select
    org_id,
    cohort_week,
    is_left_edge,
    max(cohort_users) as cohort_users,
    max(case when week_number = 1 then round(retention, 3) end) as week_1,
    max(case when week_number = 2 then round(retention, 3) end) as week_2,
    max(case when week_number = 4 then round(retention, 3) end) as week_4,
    max(case when week_number = 8 then round(retention, 3) end) as week_8,
    max(case when week_number = 12 then round(retention, 3) end) as week_12
from main.mart_retention_week
group by 1, 2, 3
order by 1, 2
