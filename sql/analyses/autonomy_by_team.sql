-- Which teams let the agent work longest on its own?
-- Tool calls per user message over the last four complete weeks. It is the
-- ratio of the sums, never an average of ratios. The result is empty if no week
-- is complete yet.
with last_weeks as (
    select
        org_id,
        max(week_start_date) as last_week
    from main.mart_team_week
    where is_complete_week
    group by 1
)

select
    org_id,
    team,
    cast(sum(tool_calls) as bigint) as tool_calls,
    cast(sum(user_messages) as bigint) as user_messages,
    round(
        cast(sum(tool_calls) as double) / nullif(sum(user_messages), 0), 2
    ) as autonomy_ratio
from main.mart_team_week
inner join last_weeks using (org_id)
where is_complete_week
    and week_start_date > last_weeks.last_week - 28
group by 1, 2
order by 1, 5 desc nulls last, 2
