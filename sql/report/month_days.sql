-- Cumulative credits by day of the current month and of the two before it. One in
-- which the history begins would look lower than the whole ones.
with
    days as (
        select
            org_id,
            activity_date,
            cast(date_trunc('month', activity_date) as date) as month_start_date,
            billable_tokens
        from org_days
        inner join chosen using (org_id)
        where
            billable_tokens is not null
            and activity_date >= date_trunc('month', chosen.last_day) - interval 2 month
            and (
                month_start_date >= first_known_day
                or month_start_date = date_trunc('month', chosen.last_day)
            )
    )

select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    cast(extract(day from activity_date) as integer) as day_of_month,
    cast(
        sum(billable_tokens) over (
            partition by org_id, month_start_date
            order by activity_date
        ) as double
    ) as billable_tokens
from days
order by org_id, activity_date
