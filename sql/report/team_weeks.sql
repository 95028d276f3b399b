-- Weeks with fewer than five active users of a team have no values.
with
    weeks as (
        select
            org_id,
            cast(date_trunc('week', activity_date) as date) as week_start_date,
            team,
            count(distinct user_id) as active_users,
            sum(billable_tokens) as billable_tokens,
            sum(tool_calls) as tool_calls,
            sum(user_messages) as user_messages,
            sum(git_commits) as git_commits,
            sum(git_prs_created) as git_prs_created,
            sum(files_created) + sum(files_edited) as files
        from user_days
        group by 1, 2, 3
    )

select
    org_id,
    cast(week_start_date as varchar) as week,
    team,
    active_users,
    cast(billable_tokens as double) as billable_tokens,
    cast(tool_calls as double) as tool_calls,
    cast(user_messages as double) as user_messages,
    cast(git_commits as double) as git_commits,
    cast(git_prs_created as double) as git_prs_created,
    cast(files as double) as files
from weeks
inner join chosen using (org_id)
where
    active_users >= 5
    and week_start_date >= first_day
    and week_start_date + 6 <= data_through
order by all
