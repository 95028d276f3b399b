select
    dim_date.iso_year,
    dim_date.iso_week,
    count(
        distinct case when fct_user_day.is_active then fct_user_day.user_id end
    ) as active_users,
    cast(sum(fct_user_day.sessions) as bigint) as sessions,
    cast(sum(fct_user_day.git_commits) as bigint) as git_commits
from main.fct_user_day
inner join main.dim_date
    on fct_user_day.activity_date = dim_date.activity_date
group by 1, 2
order by 1 desc, 2 desc
limit 6
