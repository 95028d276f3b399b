-- Who has a seat and does not use it?
-- Those of `seeds/teams.csv` without an active day of the last 28; `never_used`
-- are those who were never seen.
-- Empty where the seed is, and where all use theirs.
select
    org_id,
    team,
    user_label,
    status,
    last_active_date
from main.mart_seats
where status in ('idle', 'never_used')
order by 1, 2, 5 nulls first, 3
