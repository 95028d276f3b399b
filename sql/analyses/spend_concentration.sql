-- How concentrated is the consumption on few users?
-- By month: the share of the top 10 % of the users, and the Gini coefficient,
-- which is 0 if all consume the same. The last month may be incomplete.
select
    org_id,
    month_start_date,
    user_count as users,
    round(top_10_percent_share, 3) as top_10_percent_share,
    round(gini, 3) as gini
from main.mart_spend_pareto
where user_rank = 1
order by 1, 2 desc
