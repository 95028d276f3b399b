-- One row per org, day and report of `readiness_reports`; a later one wins.
with

reports as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "reportId": "VARCHAR",
            "createdAt": "VARCHAR",
            "repoUrl": "VARCHAR",
            "commitHash": "VARCHAR",
            "branch": "VARCHAR",
            "hasLocalChanges": "VARCHAR",
            "hasNonRemoteCommits": "VARCHAR",
            "modelUsed": {"id": "VARCHAR", "reasoningEffort": "VARCHAR"},
            "agentVersion": "VARCHAR",
            "apps": "MAP(VARCHAR, VARCHAR)"
        }') as report,
        fetched_at
    from raw

),

latest as (

    select * from reports
    qualify report.reportId is null or row_number() over (
        partition by org_id, activity_date, report.reportId
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

final as (

    select
        org_id,
        activity_date,
        nullif(report.reportId, '') as report_id,
        from_ms(report.createdAt) as created_at,
        nullif(report.repoUrl, '') as repo_url,
        nullif(report.commitHash, '') as commit_hash,
        nullif(report.branch, '') as branch,
        to_boolean(report.hasLocalChanges) as has_local_changes,
        to_boolean(report.hasNonRemoteCommits) as has_non_remote_commits,
        nullif(report.modelUsed.id, '') as model_id,
        nullif(report.modelUsed.reasoningEffort, '') as reasoning_effort,
        nullif(report.agentVersion, '') as agent_version,
        cast(cardinality(report.apps) as bigint) as app_count,
        fetched_at
    from latest

)

select * from final
