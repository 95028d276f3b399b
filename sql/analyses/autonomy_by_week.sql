-- How many tool calls does the agent make per user message?
-- Complete weeks: the ratio of the sums of the week, and percentiles over its
-- user days, because percentiles of days cannot be averaged. The result is
-- empty if no week is complete yet.
select
    org_id,
    week_start_date,
    tool_calls,
    user_messages,
    round(autonomy_ratio, 2) as autonomy_ratio,
    round(autonomy_ratio_p50, 2) as autonomy_ratio_p50,
    round(autonomy_ratio_p90, 2) as autonomy_ratio_p90
from main.mart_autonomy_week
where is_complete_week
order by 1, 2 desc
