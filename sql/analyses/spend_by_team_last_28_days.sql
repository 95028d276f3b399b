select
    coalesce(dim_user_history.team, '(no team)') as team,
    count(distinct case
        when fct_user_model_day.user_id not like '(%'
        then fct_user_model_day.user_id
    end) as users,
    sum(fct_user_model_day.billable_tokens) as billable_tokens
from main.fct_user_model_day
left join main.dim_user_history
    on fct_user_model_day.org_id = dim_user_history.org_id
    and fct_user_model_day.user_id = dim_user_history.user_id
    and fct_user_model_day.activity_date >= dim_user_history.valid_from
    and (
        dim_user_history.valid_to is null
        or fct_user_model_day.activity_date < dim_user_history.valid_to
    )
where
    fct_user_model_day.activity_date > (
        select max(activity_date) - 28 from main.fct_user_model_day
    )
group by 1
order by 3 desc, 1
