-- How many people of each team use it?
-- The last eight complete weeks, by the team of each day. A user who changes
-- team within a week is counted in both, so neither teams nor weeks add up. The
-- result is empty if no week is complete yet.
with last_weeks as (
    select
        org_id,
        max(week_start_date) as last_week
    from main.mart_team_week
    where is_complete_week
    group by 1
)

select
    org_id,
    week_start_date,
    team,
    active_users,
    git_commits,
    billable_tokens as credits
from main.mart_team_week
inner join last_weeks using (org_id)
where is_complete_week
    and week_start_date > last_weeks.last_week - 56
order by 1, 2 desc, 4 desc, 3
