-- How many users are new, stay, come back or leave in a week?
-- Weeks that are complete, after a week that is. Active is new plus retained
-- plus resurrected; at the left edge of the history the new ones were mostly
-- there already.
-- Empty where no two weeks in a row are complete yet.
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
