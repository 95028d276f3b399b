-- Which models do this month’s credits go to?
-- The month so far, to be compared with no whole one: `spend_by_model` does
-- that.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.fct_model_day
    group by 1
)

select
    org_id,
    model_id,
    sum(billable_tokens) as credits,
    round(
        100.0 * sum(billable_tokens)
        / nullif(sum(sum(billable_tokens)) over (partition by org_id), 0),
        1
    ) as percent
from main.fct_model_day
inner join last_days using (org_id)
where date_trunc('month', activity_date) = date_trunc('month', last_date)
group by 1, 2
order by 1, 3 desc nulls last, 2
