-- The active days of users of the chosen organisations with the team of that day,
-- for the longest period and the year before it. Teams in which fewer than five
-- users were ever active are combined, together with the smallest other team if
-- they are fewer than five people, so that no row of the report describes a few
-- people. Teams beyond the 30 largest are combined too. Use that belongs to no
-- user is left out: it would be counted as a person.
create temp table user_days as
with
    days as (
        select
            facts.org_id,
            facts.activity_date,
            facts.user_id,
            coalesce(history.team, '(no team)') as team,
            facts.billable_tokens,
            facts.tool_calls,
            facts.user_messages,
            facts.sessions,
            facts.files_created,
            facts.files_edited,
            facts.git_commits,
            facts.git_prs_created
        from main.fct_user_day as facts
        inner join chosen using (org_id)
        left join main.dim_user_history as history
            on
                facts.org_id = history.org_id
                and facts.user_id = history.user_id
                and facts.activity_date >= history.valid_from
                and facts.activity_date < coalesce(history.valid_to, date '9999-12-31')
        where
            facts.is_active
            and facts.user_id not like '(%'
            and facts.activity_date > chosen.last_day - (select max(days) + 364 from ranges)
    ),

    sizes as (
        select org_id, team, count(distinct user_id) as users
        from days
        group by 1, 2
    ),

    judged as (
        select *, hides(org_id, users, users, team) as is_small
        from sizes
    ),

    ranked as (
        select
            org_id,
            team,
            is_small,
            row_number() over (
                partition by org_id
                order by is_small, team = '(no team)' desc, users desc, team
            ) as place,
            count_if(not is_small) over (partition by org_id) as teams
        from judged
    )

select
    days.* exclude (team),
    case
        when is_small then '(small teams)'
        when place <= 30 or teams = 31 then team
        else '(' || cast(teams - 30 as varchar) || ' other teams)'
    end as team
from days
inner join ranked using (org_id, team)
