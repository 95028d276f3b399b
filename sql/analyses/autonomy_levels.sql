-- At which level of autonomy are tools called?
-- Complete weeks: the share of the week's tool calls at each level; days are
-- weighted by their calls. The result is empty if no week is complete yet.
select
    org_id,
    week_start_date,
    autonomy_level,
    round(share, 3) as share,
    known_days
from main.mart_autonomy_level_week
where is_complete_week
order by 1, 2 desc, 4 desc nulls last, 3
