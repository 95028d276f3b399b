-- Totals of each length of period that the page offers, of the period before
-- it, and of the same weeks a year before: of the organisation (team is NULL)
-- and of each team. Periods consist of spans, because one period may be the
-- difference of two others: a team has only periods in whose every span it may
-- be shown.
with
    periods as (
        select
            org_id,
            days,
            period,
            last_day - (back + days) + 1 as first_date,
            last_day - back as last_date
        from chosen
        cross join ranges
        cross join (select unnest(['current', 'previous', 'year']) as period)
        cross join lateral (
            select case period when 'previous' then days when 'year' then 364 else 0 end as back
        )
        -- A period that begins before the history cannot be compared with a
        -- whole one.
        where period = 'current' or first_date >= first_day
    ),

    spans as (
        select org_id, first_date as span from periods
        union
        select org_id, last_date + 1 from periods
    ),

    user_spans as (
        select
            user_days.org_id,
            spans.span,
            user_days.team,
            user_days.user_id,
            sum(user_days.billable_tokens) as billable_tokens,
            sum(user_days.tool_calls) as tool_calls,
            sum(user_days.user_messages) as user_messages,
            sum(user_days.sessions) as sessions,
            sum(user_days.files_created) + sum(user_days.files_edited) as files,
            sum(user_days.git_commits) as git_commits,
            sum(user_days.git_prs_created) as git_prs_created,
            1 / count(*) over (
                partition by user_days.org_id, spans.span, user_days.user_id
            ) as part
        from user_days
        asof inner join spans
            on
                user_days.org_id = spans.org_id
                and user_days.activity_date >= spans.span
        group by 1, 2, 3, 4
    ),

    team_spans as (
        select
            org_id,
            span,
            team,
            hides((org_id, span), count(*), sum(part), team) as is_hidden
        from user_spans
        group by 1, 2, 3
    ),

    people as (
        select
            org_id,
            days,
            period,
            team,
            bool_or(is_hidden) as is_hidden,
            count(distinct user_id) as active_users,
            sum(billable_tokens) as billable_tokens,
            sum(tool_calls) as tool_calls,
            sum(user_messages) as user_messages,
            sum(sessions) as sessions,
            sum(files) as files,
            sum(git_commits) as git_commits,
            sum(git_prs_created) as git_prs_created
        from user_spans
        inner join team_spans using (org_id, span, team)
        inner join periods using (org_id)
        where span between first_date and last_date
        group by grouping sets ((org_id, days, period), (org_id, days, period, team))
    ),

    -- Includes what the platform attributes to no user. Of tool calls and messages only
    -- the ratio is shown: a day with one of them would distort it.
    totals as (
        select
            org_id,
            days,
            period,
            if(bool_or(is_users_known), 0, null) as least_active_users,
            sum(org_days.billable_tokens) as billable_tokens,
            sum(org_days.tool_calls) filter (org_days.user_messages is not null)
                as tool_calls,
            sum(org_days.user_messages) filter (org_days.tool_calls is not null)
                as user_messages,
            sum(org_days.sessions) as sessions,
            sum(org_days.files_created) + sum(org_days.files_edited) as files,
            sum(org_days.git_commits) as git_commits,
            sum(org_days.git_prs_created) as git_prs_created
        from org_days
        inner join periods using (org_id)
        where activity_date between first_date and last_date
        group by 1, 2, 3
    ),

    every as (
        select
            totals.* exclude (least_active_users),
            null as team,
            coalesce(people.active_users, least_active_users) as active_users
        from totals
        left join people
            on
                totals.org_id = people.org_id
                and totals.days = people.days
                and totals.period = people.period
                and people.team is null

        union all by name

        select * exclude (is_hidden)
        from people
        where team is not null and not is_hidden
    )

select
    org_id,
    days,
    period,
    team,
    active_users,
    cast(billable_tokens as double) as billable_tokens,
    cast(tool_calls as double) as tool_calls,
    cast(user_messages as double) as user_messages,
    cast(sessions as double) as sessions,
    cast(files as double) as files,
    cast(git_commits as double) as git_commits,
    cast(git_prs_created as double) as git_prs_created
from every
order by all
