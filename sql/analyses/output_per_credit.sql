-- How much output is there per million credits, by team?
-- The last four complete weeks, as ratios of sums. Weeks in which fewer than
-- five people of the team were active are left out, because they would describe
-- individual people. Output is only counted, which says nothing about its
-- value. The result is empty if no team has five active users in a complete
-- week.
with weeks as (
    select
        *,
        dense_rank() over (
            partition by org_id
            order by week_start_date desc
        ) as place
    from main.mart_efficiency_week
    where is_complete_week
)

select
    org_id,
    team,
    count(*) as weeks,
    sum(billable_tokens) as credits,
    round(
        1e6 * sum(git_commits) / nullif(sum(billable_tokens), 0), 2
    ) as git_commits_per_million,
    round(
        1e6 * sum(git_prs_created) / nullif(sum(billable_tokens), 0), 2
    ) as git_prs_created_per_million,
    round(
        1e6 * sum(files_edited) / nullif(sum(billable_tokens), 0), 2
    ) as files_edited_per_million
from weeks
where place <= 4
    and not is_suppressed
group by 1, 2
order by 1, 5 desc nulls last, 2
