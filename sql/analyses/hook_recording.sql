-- Are all hook events recorded that the platform counts?
-- The last 28 days, by event. Compare the recorded events with the executions
-- of the command that `agent-warehouse hooks install` registers. Other hooks of
-- the same event are not recorded, nor are events on machines where our hook is
-- not installed. The result is empty if no hook ran and no event was recorded.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.mart_hook_recording
    group by 1
)

select
    org_id,
    hook_event,
    cast(sum(platform_invocations) as bigint) as platform_invocations,
    cast(sum(recorder_invocations) as bigint) as recorder_invocations,
    cast(sum(recorded_events) as bigint) as recorded_events,
    round(
        cast(sum(recorded_events) as double)
        / nullif(sum(recorder_invocations), 0), 3
    ) as recorded_share
from main.mart_hook_recording
inner join last_days using (org_id)
where activity_date > last_days.last_date - 28
group by 1, 2
order by 1, 4 desc nulls last, 2
