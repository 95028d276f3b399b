-- A week in which a day lacks a number has none: its sum would be too low, also
-- for the credits of the week.
select
    org_id,
    cast(week_start_date as varchar) as week,
    case when count(git_commits) = count(*) then sum(git_commits) end as git_commits,
    case
        when count(git_prs_created) = count(*) then sum(git_prs_created)
    end as git_prs_created,
    case
        when count(files_created + files_edited) = count(*)
        then sum(files_created) + sum(files_edited)
    end as files,
    case
        when count(billable_tokens) = count(*) then cast(sum(billable_tokens) as double)
    end as billable_tokens
from org_days
inner join whole_weeks using (org_id)
where date_trunc('week', activity_date) = week_start_date
group by 1, 2
order by 1, 2
