-- Which teams consumed the credits of the last 28 days?
-- By the team of each day. `(no team)` includes credits that are attributed to
-- no user.
with last_days as (
    select
        org_id,
        max(activity_date) as last_date
    from main.fct_user_model_day
    group by 1
)

select
    fct_user_model_day.org_id,
    coalesce(dim_user_history.team, '(no team)') as team,
    count(distinct case
        when fct_user_model_day.user_id not like '(%'
        then fct_user_model_day.user_id
    end) as users,
    sum(fct_user_model_day.billable_tokens) as credits,
    round(
        100.0 * sum(fct_user_model_day.billable_tokens)
        / nullif(
            sum(sum(fct_user_model_day.billable_tokens)) over (
                partition by fct_user_model_day.org_id
            ),
            0
        ),
        1
    ) as percent
from main.fct_user_model_day
inner join last_days
    on fct_user_model_day.org_id = last_days.org_id
left join main.dim_user_history
    on fct_user_model_day.org_id = dim_user_history.org_id
    and fct_user_model_day.user_id = dim_user_history.user_id
    and fct_user_model_day.activity_date >= dim_user_history.valid_from
    and fct_user_model_day.activity_date
    < coalesce(dim_user_history.valid_to, date '9999-12-31')
where fct_user_model_day.activity_date > last_days.last_date - 28
group by 1, 2
order by 1, 4 desc nulls last, 2
