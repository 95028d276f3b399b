-- One row per org, day and report of `readiness_reports`; a later one wins.
select
    org_id,
    activity_date,
    nullif(item.reportId, '') as report_id,
    from_ms(item.createdAt) as created_at,
    nullif(item.repoUrl, '') as repo_url,
    nullif(item.commitHash, '') as commit_hash,
    nullif(item.branch, '') as branch,
    to_boolean(item.hasLocalChanges) as has_local_changes,
    to_boolean(item.hasNonRemoteCommits) as has_non_remote_commits,
    nullif(item.modelUsed.id, '') as model_id,
    nullif(item.modelUsed.reasoningEffort, '') as reasoning_effort,
    nullif(item.agentVersion, '') as agent_version,
    cast(cardinality(item.apps) as bigint) as app_count,
    fetched_at
from parsed
