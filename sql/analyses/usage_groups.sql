-- How many users are heavy, moderate, light or idle?
-- By active days in the last 28: heavy from 12, moderate from 4, light from 1.
select
    org_id,
    as_of_date,
    usage_group,
    count(*) as users,
    sum(billable_tokens_28d) as credits_28d
from main.mart_user_28d
group by 1, 2, 3
order by 1, min(active_days_28d) desc
