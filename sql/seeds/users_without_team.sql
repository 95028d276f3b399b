-- Users who currently have no team in teams.csv, the most recently active
-- first. Empty if the file has no lines.
select user_id
from main.dim_user
where
    team is null
    and user_id not like '(%'
    and exists (select 1 from seeds.teams)
order by last_active_date desc nulls last, user_id
