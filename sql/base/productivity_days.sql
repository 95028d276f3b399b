-- One row per org and day of `productivity`.
select
    org_id,
    activity_date,
    to_count(item.files_created) as files_created,
    to_count(item.files_edited) as files_edited,
    to_count(item.git_commits) as git_commits,
    to_count(item.git_prs_created) as git_prs_created,
    fetched_at
from parsed
