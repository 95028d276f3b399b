select
    model_id,
    sum(billable_tokens) as credits,
    round(
        100.0 * sum(billable_tokens)
        / nullif(sum(sum(billable_tokens)) over (), 0),
        1
    ) as percent
from main.fct_model_day
where
    date_trunc('month', activity_date) = (
        select date_trunc('month', max(activity_date))
        from main.fct_model_day
    )
group by 1
order by 2 desc nulls last, 1
