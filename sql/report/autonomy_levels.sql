-- The platform rounds its shares. A week whose shares add up to clearly more than
-- all tool calls has none.
select
    org_id,
    cast(week_start_date as varchar) as week,
    autonomy_level as level,
    case
        when
            min(share) over (partition by org_id, week_start_date) >= 0
            and sum(share) over (partition by org_id, week_start_date) < 1.005
        then round(share, 4)
    end as share
from main.mart_autonomy_level_week
inner join whole_weeks using (org_id, week_start_date)
order by org_id, week_start_date, autonomy_level
