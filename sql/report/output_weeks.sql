select
    org_id,
    cast(week_start_date as varchar) as week,
    sum(git_commits) as git_commits,
    sum(git_prs_created) as git_prs_created,
    sum(files_created) + sum(files_edited) as files,
    cast(sum(billable_tokens) as double) as billable_tokens
from org_days
inner join whole_weeks using (org_id)
where date_trunc('week', activity_date) = week_start_date
group by 1, 2
order by 1, 2
