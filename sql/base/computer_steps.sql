-- One row per org, day, computer of `computers` and entry of its
-- `provisioningSteps`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        nullif(item.id, '') as computer_id,
        unnest(item.provisioningSteps) as step,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    computer_id,
    nullif(step.id, '') as step_id,
    nullif(step.name, '') as step_name,
    nullif(step.status, '') as status,
    nullif(step.error, '') as error,
    from_epoch(step.startedAt) as started_at,
    from_epoch(step.completedAt) as completed_at,
    nullif(step.installSessionId, '') as install_session_id,
    fetched_at
from entries
where step is not null
