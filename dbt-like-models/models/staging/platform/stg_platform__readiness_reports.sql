select
    org_id,
    activity_date,
    report_id,
    created_at,
    repo_url,
    commit_hash,
    branch,
    has_local_changes,
    has_non_remote_commits,
    model_id,
    reasoning_effort,
    agent_version,
    app_count,
    fetched_at
from {{ source('platform', 'readiness_reports') }}
