with

events as (

    select * from {{ ref('stg_platform__hook_events') }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, event_id
            order by fetched_at desc, activity_date desc
        ) as landing_rank
    from events
    where event_id is not null

),

final as (

    select
        org_id,
        event_id,
        hook_event,
        session_id,
        recorded_at,
        cast(recorded_at as date) as event_date,
        cwd,
        message,
        reason,
        is_failure
    from ranked
    where landing_rank = 1

)

select * from final
