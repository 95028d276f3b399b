select
    org_id,
    report_id,
    created_at,
    cast(created_at as date) as report_date,
    repo_url,
    commit_hash,
    branch,
    has_local_changes,
    has_non_remote_commits,
    model_id,
    reasoning_effort,
    agent_version,
    app_count,
    row_number() over (
        partition by org_id, repo_url
        order by created_at desc nulls last, report_id desc
    ) = 1 as is_latest,
    activity_date as landed_date
from (
    {{ last_landed('stg_platform__readiness_reports', ['report_id']) }}
) as reports
