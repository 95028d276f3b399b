-- One row per org, day, computer of `computers` and entry of its
-- `provisioningSteps`, repeated entries too.
with

served as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "id": "VARCHAR",
            "provisioningSteps": [{
                "id": "VARCHAR",
                "name": "VARCHAR",
                "status": "VARCHAR",
                "error": "VARCHAR",
                "startedAt": "VARCHAR",
                "completedAt": "VARCHAR",
                "installSessionId": "VARCHAR"
            }]
        }') as computer,
        fetched_at
    from raw

),

latest as (

    select * from served
    qualify computer.id is null or row_number() over (
        partition by org_id, activity_date, computer.id
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

entries as (

    select
        org_id,
        activity_date,
        nullif(computer.id, '') as computer_id,
        unnest(computer.provisioningSteps) as step,
        fetched_at
    from latest

),

final as (

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

)

select * from final
