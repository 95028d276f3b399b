-- For each length of period, the executions on each hook event, and how many
-- were recorded. The 20 events with the most executions.
with
    events as (
        select
            org_id,
            days,
            hook_event,
            cast(sum(platform_invocations) as double) as runs,
            cast(sum(recorder_invocations) as double) as recording_runs,
            cast(sum(recorded_events) as double) as recorded
        from main.mart_hook_recording
        inner join chosen using (org_id)
        cross join ranges
        where activity_date > last_day - days
        group by 1, 2, 3
    )

select
    *,
    round(recorded / nullif(recording_runs, 0), 4) as recorded_share
from events
qualify
    row_number() over (
        partition by org_id, days
        order by recorded desc, runs desc nulls last, hook_event
    ) <= 20
order by org_id, days, recorded desc, runs desc nulls last, hook_event
