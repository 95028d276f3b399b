-- How concentrated is the consumption on few users?
-- By month: the share of the tenth of the users that consumes most, and the
-- Gini coefficient, 0 where all consume the same. The last month may be
-- running.
select
    org_id,
    month_start_date,
    user_count as users,
    round(top_10_percent_share, 3) as top_10_percent_share,
    round(gini, 3) as gini
from main.mart_spend_pareto
where user_rank = 1
order by 1, 2 desc
