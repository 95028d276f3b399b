-- How many users are new, stay, come back or leave in a week?
-- Complete weeks that follow a complete week. New, retained and resurrected
-- users add up to the active ones. At the left edge of the history, most of the
-- new users were active before it. The result is empty if no two weeks in a row
-- are complete yet.
select
    org_id,
    week_start_date,
    is_left_edge,
    active_users,
    new_users,
    retained_users,
    resurrected_users,
    churned_users
from main.mart_user_lifecycle_week
where is_complete_week
    and is_week_before_complete
order by 1, 2 desc
