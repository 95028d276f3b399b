with

-- The command that `agent-warehouse hooks install` registers, with each word
-- quoted on Windows.
parts as (

    select
        *,
        case
            when replace(command, '"', '') like '%hooks run --data %'
            then invocations
            else 0
        end as recorder_part
    from {{ ref('fct_hook_day') }}

),

counted as (

    select
        org_id,
        activity_date,
        hook_event,
        {{ sum_of_counts('invocations') }} as platform_invocations,
        {{ sum_of_counts('recorder_part') }} as recorder_invocations
    from parts
    group by 1, 2, 3

),

recorded as (

    select
        org_id,
        event_date as activity_date,
        coalesce(hook_event, '(unnamed)') as hook_event,
        count(*) as recorded_events
    from {{ ref('fct_hook_event') }}
    where event_date is not null
    group by 1, 2, 3

),

final as (

    select
        org_id,
        activity_date,
        hook_event,
        {% for column in ['platform_invocations', 'recorder_invocations'] %}
        case
            when counted.org_id is null and days.hooks_invocations is not null
            then 0
            else counted.{{ column }}
        end as {{ column }},
        {% endfor %}
        coalesce(recorded.recorded_events, 0) as recorded_events,
        cast(coalesce(recorded.recorded_events, 0) as double)
        / nullif(counted.recorder_invocations, 0) as recorded_share
    from counted
    full outer join recorded using (org_id, activity_date, hook_event)
    left join {{ ref('fct_org_day') }} as days using (org_id, activity_date)

)

select * from final
