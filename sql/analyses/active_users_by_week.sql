-- How many people use the agent, week by week?
-- The last six weeks, each user once a week. The last week may be incomplete.
with last_weeks as (
    select
        org_id,
        max(week_start_date) as last_week
    from main.dim_date
    group by 1
)

select
    org_id,
    dim_date.iso_year,
    dim_date.iso_week,
    count(
        distinct case
            when fct_user_day.is_active and fct_user_day.user_id not like '(%'
            then fct_user_day.user_id
        end
    ) as active_users,
    cast(sum(fct_user_day.sessions) as bigint) as sessions,
    cast(sum(fct_user_day.git_commits) as bigint) as git_commits
from main.fct_user_day
inner join main.dim_date using (org_id, activity_date)
inner join last_weeks using (org_id)
where dim_date.week_start_date > last_weeks.last_week - 42
group by 1, 2, 3
order by 1, 2 desc, 3 desc
