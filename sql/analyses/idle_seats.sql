-- Who has a seat but does not use it?
-- People in `seeds/teams.csv` without an active day in the last 28;
-- `never_used` are those who were never seen. The result is empty if there is
-- no such file, or if everyone uses their seat.
select
    org_id,
    team,
    user_label,
    status,
    last_active_date
from main.mart_seats
where status in ('idle', 'never_used')
order by 1, 2, 5 nulls first, 3
