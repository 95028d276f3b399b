-- How do new users ramp up in their first four weeks?
-- Averages per user, for users who began in the same ISO week. Week 1 begins
-- with a user's first active day. A week that is not over, or has a missing
-- day, is not counted. Users at the left edge of the history are left out. The
-- result is empty if no user has begun after it.
select
    org_id,
    cohort_week,
    week_number,
    count(*) as users,
    round(cast(sum(active_days) as double) / count(active_days), 2)
        as active_days_per_user,
    round(cast(sum(tool_calls) as double) / count(tool_calls), 1)
        as tool_calls_per_user,
    round(cast(sum(billable_tokens) as double) / count(billable_tokens), 0)
        as credits_per_user
from main.mart_ramp_week
where is_complete_week
group by 1, 2, 3
order by 1, 2, 3
