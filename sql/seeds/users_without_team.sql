-- Users that no line of teams.csv puts in a team now, the last active first;
-- none where there is no such file.
select user_id
from main.dim_user
where
    team is null
    and user_id not like '(%'
    and exists (select 1 from seeds.teams)
order by last_active_date desc nulls last, user_id
