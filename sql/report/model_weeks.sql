-- Credits by week of the seven models with the most credits in the last year,
-- and of all others.
with
    weeks as (
        select
            org_id,
            cast(date_trunc('week', activity_date) as date) as week_start_date,
            model_id,
            sum(billable_tokens) as billable_tokens
        from main.fct_model_day
        inner join chosen using (org_id)
        where activity_date > chosen.last_day - 371
        group by 1, 2, 3
    ),

    ranked as (
        select
            org_id,
            model_id,
            row_number() over (
                partition by org_id
                order by sum(billable_tokens) desc nulls last, model_id
            ) as place,
            count(*) over (partition by org_id) as models
        from weeks
        group by 1, 2
    )

select
    org_id,
    cast(week_start_date as varchar) as week,
    case
        when place <= 7 or models = 8 then model_id
        else '(' || cast(models - 7 as varchar) || ' other models)'
    end as model,
    cast(min(place) as integer) as place,
    cast(sum(billable_tokens) as double) as billable_tokens
from weeks
inner join ranked using (org_id, model_id)
inner join whole_weeks using (org_id, week_start_date)
group by org_id, week_start_date, model
order by org_id, week_start_date, place
