-- Which models consume this month’s credits?
-- The month so far. Do not compare it with a complete month; `spend_by_model`
-- compares the same days.
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
