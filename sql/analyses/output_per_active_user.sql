-- How many commits and pull requests are made per active user?
-- Complete weeks: the sum of the week divided by the users of the week. A
-- created pull request may be neither merged nor reviewed, and the platform
-- does not serve lines of code. The result is empty if no week is complete yet.
select
    org_id,
    week_start_date,
    active_users,
    git_commits,
    git_prs_created,
    round(
        cast(git_commits as double) / nullif(active_users, 0), 2
    ) as git_commits_per_user,
    round(
        cast(git_prs_created as double) / nullif(active_users, 0), 2
    ) as git_prs_created_per_user
from main.mart_output_week
where is_complete_week
order by 1, 2 desc
