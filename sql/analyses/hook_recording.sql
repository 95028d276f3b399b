-- Are all hook events recorded that the platform counts?
-- The 28 days to the last complete day, by event. Compare the recorded events
-- with the executions of the command that `agent-warehouse hooks install`
-- registers. Other hooks of the same event are not recorded, nor are events on
-- machines where our hook is not installed. The result is empty if no hook ran
-- and no event was recorded.
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
inner join main.mart_data_health using (org_id)
where activity_date > data_through - 28
    and activity_date <= data_through
group by 1, 2
order by 1, 4 desc nulls last, 2
