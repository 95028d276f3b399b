select
    org_id,
    activity_date,
    files_created,
    files_edited,
    git_commits,
    git_prs_created,
    fetched_at
from {{ source('platform', 'productivity_days') }}
