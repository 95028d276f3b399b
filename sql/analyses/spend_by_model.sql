-- What does each model consume, compared with the same days of last month?
-- The month so far. The comparison has only the days whose credits are known in
-- both months. `(unattributed)` is the rest that no model accounts for.
with last_months as (
    select
        org_id,
        max(month_start_date) as last_month
    from main.mart_spend_month
    group by 1
)

select
    org_id,
    mart_spend_month.month_start_date,
    mart_spend_month.member as model_id,
    mart_spend_month.billable_tokens as credits,
    round(100 * mart_spend_month.share_of_month, 1) as percent,
    mart_spend_month.compared_days,
    mart_spend_month.compared_billable_tokens as credits_compared,
    mart_spend_month.previous_billable_tokens as credits_before,
    round(
        100.0
        * (
            mart_spend_month.compared_billable_tokens
            - mart_spend_month.previous_billable_tokens
        )
        / nullif(mart_spend_month.previous_billable_tokens, 0),
        1
    ) as change_percent
from main.mart_spend_month
inner join last_months using (org_id)
where mart_spend_month.month_start_date = last_months.last_month
    and mart_spend_month.dimension = 'model'
order by 1, 4 desc nulls last, 3
