-- The organisations of the report: all in $names, a JSON list, or if it is
-- empty the 20 that spent most in their last 28 days. Statements name people if
-- names_people is true.
create temp table chosen as
with
    days as (
        select org_id, activity_date, true as has_rows, sessions
        from main.fct_org_day

        union all

        select org_id, activity_date, false, null
        from meta.intervals
        where
            resource in ('activity', 'productivity', 'tokens', 'tools', 'users')
            and status in ('landed', 'empty')
    ),

    -- From the first day with use to the last day that is known, with or without.
    ends as (
        select
            org_id,
            coalesce(min(activity_date) filter (has_rows), min(activity_date)) as first_day,
            min(activity_date) as first_known_day,
            max(activity_date) as last_day,
            sum(sessions) as sessions
        from days
        group by 1
    ),

    spent as (
        select org_id, sum(billable_tokens) as billable_tokens
        from main.fct_org_day
        inner join ends using (org_id)
        where activity_date > last_day - 28
        group by 1
    ),

    days_of_users as (
        select org_id, max(as_of_date) as last_day
        from main.mart_user_28d
        group by 1
    ),

    known as (
        select
            org_id,
            bool_or(
                resource = 'enterprise_controls'
                and status in ('landed', 'empty')
            ) as are_settings_known,
            count_if(
                resource = 'users'
                and status not in ('landed', 'empty')
                and activity_date between last_day - 27 and last_day
            ) as users_missing_28d
        from meta.intervals
        left join days_of_users using (org_id)
        group by 1
    )

select
    org_id,
    ends.first_day,
    ends.first_known_day,
    ends.last_day,
    -- Known or not.
    health.last_day as last_asked_day,
    health.data_through,
    health.missing_days,
    health.failed_days,
    health.residual_checks_failed,
    health.restatements_28d,
    health.drift_findings,
    health.sessions_known_share,
    -- Without a share of sessions that the platform counts, more were fetched.
    coalesce(health.sessions_known_share is null and ends.sessions > 0, false)
        as has_more_sessions,
    health.verdict,
    coalesce(known.are_settings_known, false) as are_settings_known,
    -- Of the 28 days of `mart_user_28d`.
    coalesce(known.users_missing_28d, 0) as users_missing_28d,
    cast($names_people as boolean) as names_people
from main.mart_data_health as health
left join ends using (org_id)
left join spent using (org_id)
left join known using (org_id)
where
    $names = '[]'
    or list_contains(cast(cast($names as json) as varchar[]), org_id)
qualify
    $names <> '[]'
    or row_number() over (order by spent.billable_tokens desc nulls last, org_id) <= 20
