-- The incomplete days that a figure of the report lacks, by the resource that
-- it comes from.
with
    incomplete as (
        select org_id, activity_date
        from main.dim_date
        inner join chosen using (org_id)
        where not is_complete and activity_date between first_day and last_day
    ),

    user_dates as (
        select distinct org_id, activity_date
        from main.fct_user_day
    ),

    resources as (
        select
            incomplete.org_id,
            cast(incomplete.activity_date as varchar) as day,
            unnest([
                case when org.sessions is null then 'activity' end,
                case when org.git_commits is null then 'productivity' end,
                case when org.billable_tokens is null then 'tokens' end,
                case when org.tool_calls is null then 'tools' end,
                case when user_dates.org_id is null then 'users' end
            ]) as resource
        from incomplete
        left join main.fct_org_day as org
            on
                incomplete.org_id = org.org_id
                and incomplete.activity_date = org.activity_date
        left join user_dates
            on
                incomplete.org_id = user_dates.org_id
                and incomplete.activity_date = user_dates.activity_date
    )

select *
from resources
where resource is not null
order by all
