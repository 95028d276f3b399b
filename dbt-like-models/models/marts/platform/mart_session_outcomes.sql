with

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, session_id
            order by recorded_at desc nulls last, event_id desc
        ) as end_rank
    from {{ ref('fct_hook_event') }}
    where hook_event = 'SessionEnd' and session_id is not null

),

ends as (

    select
        org_id,
        session_id,
        event_date,
        coalesce(reason, '(none given)') as end_reason,
        is_failure
    from ranked
    where end_rank = 1

),

outcomes as (

    select
        org_id,
        coalesce(
            ends.event_date,
            cast(sessions.completed_at as date),
            cast(sessions.updated_at as date)
        ) as outcome_date,
        coalesce(ends.end_reason, '(not recorded)') as end_reason,
        ends.is_failure,
        case when sessions.session_id is not null then 1 end as is_fetched,
        sessions.message_count,
        sessions.assistant_active_ms,
        sessions.service_credits
    from {{ ref('fct_session') }} as sessions
    full outer join ends using (org_id, session_id)

),

final as (

    select
        org_id,
        outcome_date,
        end_reason,
        is_failure,
        count(*) as sessions,
        count(is_fetched) as fetched_sessions,
        {{ sum_of_counts('message_count') }} as messages,
        {{ sum_of_counts('assistant_active_ms') }} as assistant_active_ms,
        {{ sum_of_credits('service_credits') }} as service_credits
    from outcomes
    group by 1, 2, 3, 4

)

select * from final
