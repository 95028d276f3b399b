-- Which teams let the agent work longest on its own?
-- Tool calls per user message over the last four complete weeks. It is the
-- ratio of the sums, never an average of ratios. The result is empty if no week
-- is complete yet.
with weeks as (
    select
        *,
        dense_rank() over (
            partition by org_id
            order by week_start_date desc
        ) as place
    from main.mart_team_week
    where is_complete_week
)

select
    org_id,
    team,
    cast(sum(tool_calls) as bigint) as tool_calls,
    cast(sum(user_messages) as bigint) as user_messages,
    round(
        cast(sum(tool_calls) as double) / nullif(sum(user_messages), 0), 2
    ) as autonomy_ratio
from weeks
where place <= 4
group by 1, 2
order by 1, 5 desc nulls last, 2
