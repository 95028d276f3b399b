-- Totals of each length of period that the page offers, and of the period before it: of an
-- organisation (team is NULL) and of each team.
with
    periods as (
        select
            org_id,
            days,
            is_current,
            last_day - cast(if(is_current, days, 2 * days) as integer) + 1 as first_date,
            last_day - cast(if(is_current, 0, days) as integer) as last_date,
            first_day
        from chosen
        cross join (select unnest([28, 91, 182, 364]) as days)
        cross join (select unnest([true, false]) as is_current)
    ),

    people as (
        select
            org_id,
            days,
            is_current,
            team,
            count(distinct user_id) as active_users,
            sum(user_days.billable_tokens) as billable_tokens,
            sum(user_days.tool_calls) as tool_calls,
            sum(user_days.user_messages) as user_messages,
            sum(user_days.sessions) as sessions,
            sum(user_days.files_created) + sum(user_days.files_edited) as files,
            sum(user_days.git_commits) as git_commits,
            sum(user_days.git_prs_created) as git_prs_created
        from user_days
        inner join periods using (org_id)
        where activity_date between first_date and last_date
        group by grouping sets ((org_id, days, is_current), (org_id, days, is_current, team))
    ),

    -- What no user is named for counts too.
    totals as (
        select
            org_id,
            days,
            is_current,
            sum(fct_org_day.billable_tokens) as billable_tokens,
            sum(fct_org_day.tool_calls) as tool_calls,
            sum(fct_org_day.user_messages) as user_messages,
            sum(fct_org_day.sessions) as sessions,
            sum(fct_org_day.files_created) + sum(fct_org_day.files_edited) as files,
            sum(fct_org_day.git_commits) as git_commits,
            sum(fct_org_day.git_prs_created) as git_prs_created
        from main.fct_org_day
        inner join periods using (org_id)
        where activity_date between first_date and last_date
        group by 1, 2, 3
    )

select
    periods.org_id,
    cast(periods.days as integer) as days,
    periods.is_current,
    people.team,
    people.active_users,
    cast(if(people.team is null, totals.billable_tokens, people.billable_tokens) as double)
        as billable_tokens,
    cast(if(people.team is null, totals.tool_calls, people.tool_calls) as double) as tool_calls,
    cast(if(people.team is null, totals.user_messages, people.user_messages) as double)
        as user_messages,
    cast(if(people.team is null, totals.sessions, people.sessions) as double) as sessions,
    cast(if(people.team is null, totals.files, people.files) as double) as files,
    cast(if(people.team is null, totals.git_commits, people.git_commits) as double)
        as git_commits,
    cast(if(people.team is null, totals.git_prs_created, people.git_prs_created) as double)
        as git_prs_created
from periods
inner join people using (org_id, days, is_current)
left join totals using (org_id, days, is_current)
-- A period that begins before the history does cannot be compared with a whole one.
where periods.is_current or periods.first_date >= periods.first_day
order by all
