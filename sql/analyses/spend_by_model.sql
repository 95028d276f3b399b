-- What does each model consume, compared with the same days of last month?
-- The current month is not compared with a complete one: of both, the days up
-- to the last known day of the month are counted. `(unattributed)` is the rest
-- that no model accounts for.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.fct_model_day
    group by 1
),

counted as (
    select
        dim_date.org_id,
        dim_date.activity_date,
        (this_day.year - dim_date.year) * 12
        + this_day.month - dim_date.month as months_ago
    from main.dim_date
    inner join last_days using (org_id)
    inner join main.dim_date as this_day
        on last_days.org_id = this_day.org_id
        and last_days.last_date = this_day.activity_date
    where dim_date.day_of_month <= this_day.day_of_month
),

credits as (
    select
        org_id,
        model_id,
        sum(case when months_ago = 0 then billable_tokens end) as credits,
        sum(case when months_ago = 1 then billable_tokens end) as credits_before
    from main.fct_model_day
    inner join counted using (org_id, activity_date)
    where counted.months_ago in (0, 1)
    group by 1, 2
)

select
    org_id,
    model_id,
    credits,
    credits_before,
    round(
        100.0 * (credits - credits_before) / nullif(credits_before, 0), 1
    ) as change_percent
from credits
order by 1, 3 desc nulls last, 2
