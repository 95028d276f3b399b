-- Who consumes the most credits this month?
-- The twenty users with the most credits in the month so far, compared with the
-- same days of last month. Credits that are attributed to no user are left out,
-- so shares refer to the credits of known users.
select
    org_id,
    mart_spend_pareto.month_start_date,
    mart_spend_pareto.user_rank,
    dim_user.user_label,
    dim_user.team,
    mart_spend_pareto.billable_tokens as credits,
    round(mart_spend_pareto.cumulative_share, 3) as cumulative_share,
    mart_spend_month.compared_days,
    mart_spend_month.compared_billable_tokens as credits_compared,
    mart_spend_month.previous_billable_tokens as credits_before
from main.mart_spend_pareto
left join main.dim_user using (org_id, user_id)
left join main.mart_spend_month
    on mart_spend_pareto.org_id = mart_spend_month.org_id
    and mart_spend_pareto.month_start_date = mart_spend_month.month_start_date
    and mart_spend_pareto.user_id = mart_spend_month.member
    and mart_spend_month.dimension = 'user'
where mart_spend_pareto.user_rank <= 20
qualify mart_spend_pareto.month_start_date
    = max(mart_spend_pareto.month_start_date) over (partition by org_id)
order by 1, 3
