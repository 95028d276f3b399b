-- Reports of `readiness_reports`; a later one wins.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
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
            "apps": "MAP(VARCHAR, VARCHAR)",
            "report": "MAP(VARCHAR, JSON)"
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        item.reportId as row_key
    from served

)

select * from final
