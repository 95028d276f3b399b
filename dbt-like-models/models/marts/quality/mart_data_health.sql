with

orgs as (

    select
        org_id,
        max(case when is_complete = 1 then activity_date end) as data_through,
        max(activity_date) as last_day,
        count(*) as days,
        count(case when is_missing = 1 then 1 end) as missing_days,
        count(case when is_failed = 1 then 1 end) as failed_days
    from (
        {{ analytics_days() }}
    ) as days
    group by 1

),

checks as (

    select
        org_id,
        count(*) as failed
    from {{ ref('fct_reconciliation') }} as reconciliation
    inner join orgs using (org_id)
    where
        reconciliation.status = 'changed'
        and reconciliation.activity_date > orgs.last_day - 28
    group by 1

),

restatements as (

    select
        org_id,
        count(*) as restated_days
    from (
        select distinct
            org_id,
            resource,
            activity_date
        from {{ ref('fct_restatement') }} as restatements
        inner join orgs using (org_id)
        where cast(restatements.new_fetched_at as date) > orgs.last_day - 28
    ) as restated
    group by 1

),

drift as (

    select
        org_id,
        count(*) as findings
    from (
        select distinct
            org_id,
            resource,
            path,
            kind
        from {{ ref('stg_platform__schema_drift') }}
    ) as drifted
    group by 1

),

served_sessions as (

    select
        org_id,
        sum(cast(sessions as decimal(38, 0))) as sessions
    from {{ ref('fct_org_day') }}
    group by 1

),

known_sessions as (

    select
        org_id,
        count(*) as sessions
    from {{ ref('fct_session') }}
    group by 1

),

counted as (

    select
        org_id,
        orgs.data_through,
        orgs.last_day,
        orgs.days,
        orgs.missing_days,
        orgs.failed_days,
        coalesce(checks.failed, 0) as residual_checks_failed,
        coalesce(restatements.restated_days, 0) as restatements_28d,
        coalesce(drift.findings, 0) as drift_findings,
        case
            when
                served_sessions.sessions > 0
                and coalesce(known_sessions.sessions, 0)
                <= served_sessions.sessions
            then
                cast(coalesce(known_sessions.sessions, 0) as double)
                / cast(served_sessions.sessions as double)
        end as sessions_known_share
    from orgs
    left join checks using (org_id)
    left join restatements using (org_id)
    left join drift using (org_id)
    left join served_sessions using (org_id)
    left join known_sessions using (org_id)

),

final as (

    select
        *,
        case
            when missing_days > 0 or failed_days > 0 then 'incomplete'
            when residual_checks_failed > 0 or restatements_28d > 0
            then 'provisional'
            else 'complete'
        end as verdict
    from counted

)

select * from final
