-- How many people of each team use the agent?
-- The last eight complete weeks, by the team of each day. A user who changes
-- team within a week is counted in both, so neither teams nor weeks add up. The
-- result is empty if no week is complete yet.
select
    org_id,
    week_start_date,
    team,
    active_users,
    git_commits,
    billable_tokens as credits
from main.mart_team_week
where is_complete_week
qualify
    dense_rank() over (partition by org_id order by week_start_date desc) <= 8
order by 1, 2 desc, 4 desc, 3
