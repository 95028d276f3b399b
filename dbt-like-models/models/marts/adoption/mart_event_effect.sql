{% set sums = [
    'billable_tokens', 'tool_calls', 'user_messages', 'git_commits',
    'git_prs_created',
] %}
{% set metrics = [
    ['active_users', 'user_weeks', '4'],
    ['active_days_per_active_user', 'active_days', 'user_weeks'],
    ['billable_tokens_per_active_user', 'billable_tokens', 'user_weeks'],
    ['tool_calls_per_active_user', 'tool_calls', 'user_weeks'],
    ['tool_calls_per_user_message', 'tool_calls', 'user_messages'],
    ['git_commits_per_active_user', 'git_commits', 'user_weeks'],
    ['git_prs_created_per_active_user', 'git_prs_created', 'user_weeks'],
] %}
{% set event = ['org_id', 'event_date', 'event_name', 'event_team'] %}

with

events as (

    select
        org_id,
        event_date,
        event_name,
        team,
        coalesce(team, '(every team)') as event_team,
        max(case when team is null then 1 else 0 end) over (
            partition by org_id, event_date, event_name
        ) as is_for_every_team
    from {{ ref('dim_event') }}

),

-- The week of the event is in neither period, unless the event is on its first
-- day.
event_weeks as (

    select
        events.*,
        weeks.week_start_date,
        weeks.is_complete_week,
        case
            when weeks.week_start_date < events.event_date then 'before'
            else 'after'
        end as side
    from events
    inner join {{ ref('int_org_weeks') }} as weeks
        on events.org_id = weeks.org_id
        and weeks.week_start_date > events.event_date - 35
        and weeks.week_start_date < events.event_date + 28
    where
        weeks.week_start_date
        not between events.event_date - 6 and events.event_date - 1

),

spans as (

    select
        {{ event | join(', ') }},
        side,
        count(case when is_complete_week then 1 end) as complete_weeks
    from event_weeks
    group by {{ event | join(', ') }}, side

),

member_weeks as (

    select
        users.org_id,
        weeks.week_start_date,
        coalesce(history.team, '(no team)') as team,
        users.user_id,
        count(*) as active_days,
        {% for metric in sums %}
        {{ sum_of_metric(metric) }} as {{ metric }}
        {{- ',' if not loop.last }}
        {% endfor %}
    from {{ ref('fct_user_day') }} as users
    inner join (
        select distinct
            org_id,
            week_start_date
        from event_weeks
    ) as weeks
        on users.org_id = weeks.org_id
        and {{ week_of('users.activity_date') }} = weeks.week_start_date
    left join {{ ref('dim_user_history') }} as history
        on users.org_id = history.org_id
        and users.user_id = history.user_id
        and {{ is_valid('history', 'users.activity_date') }}
    where users.is_active and users.user_id not like '(%'
    group by 1, 2, 3, 4

),

-- A team in another line of the same event is in neither group.
grouped as (

    select
        *,
        case
            when event_team in ('(every team)', team_of_user) then 'affected'
            when is_for_every_team = 0 and named_team is null then 'unaffected'
        end as team_group
    from (
        select
            event_weeks.*,
            members.team as team_of_user,
            named.team as named_team,
            members.user_id,
            members.active_days,
            {% for metric in sums %}
            members.{{ metric }}{{ ',' if not loop.last }}
            {% endfor %}
        from event_weeks
        inner join member_weeks as members using (org_id, week_start_date)
        left join events as named
            on event_weeks.org_id = named.org_id
            and event_weeks.event_date = named.event_date
            and event_weeks.event_name = named.event_name
            and members.team = named.team
    ) as users_of_events

),

-- A user who changes team within a group counts once in it.
users_of_groups as (

    select
        {{ event | join(', ') }},
        side,
        team_group,
        week_start_date,
        user_id,
        sum(active_days) as active_days,
        {% for metric in sums %}
        {{ sum_of_metric(metric) }} as {{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from grouped
    where team_group is not null
    group by
        {{ event | join(', ') }},
        side,
        team_group,
        week_start_date,
        user_id

),

totals as (

    select
        {{ event | join(', ') }},
        side,
        team_group,
        count(distinct user_id) as users,
        count(*) as user_weeks,
        sum(active_days) as active_days,
        {% for metric in sums %}
        {{ sum_of_metric(metric) }} as {{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from users_of_groups
    group by {{ event | join(', ') }}, side, team_group

),

-- One row per event, with each number of both groups and both periods.
compared as (

    select
        {{ event | join(', ') }},
        {% for side in ['before', 'after'] %}
        {% for team_group in ['affected', 'unaffected'] %}
        max(
            case
                when
                    spans.side = '{{ side }}'
                    and totals.team_group = '{{ team_group }}'
                then totals.users
            end
        ) as {{ team_group }}_users_{{ side }},
        {% for metric, dividend, divisor in metrics %}
        max(
            case
                when
                    spans.side = '{{ side }}'
                    and totals.team_group = '{{ team_group }}'
                then
                    cast({{ dividend }} as double)
                    / nullif(cast({{ divisor }} as double), 0)
            end
        ) as {{ metric }}_{{ team_group }}_{{ side }},
        {% endfor %}
        {% endfor %}
        max(
            case when spans.side = '{{ side }}' then spans.complete_weeks end
        ) as {{ side }}_weeks{{ ',' if not loop.last }}
        {% endfor %}
    from spans
    left join totals using ({{ event | join(', ') }}, side)
    group by {{ event | join(', ') }}

),

metric_names as (

    {% for metric, dividend, divisor in metrics %}
    select '{{ metric }}' as metric
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

-- A group without rows in complete weeks has 0 users, not an unknown number.
known as (

    select
        events.org_id,
        events.event_date,
        events.event_name,
        events.team,
        metric_names.metric,
        events.is_for_every_team,
        coalesce(compared.before_weeks, 0) as before_weeks,
        coalesce(compared.after_weeks, 0) as after_weeks,
        {% for team_group in ['affected', 'unaffected'] %}
        {% for side in ['before', 'after'] %}
        case
            when compared.{{ side }}_weeks = 4
            then coalesce(compared.{{ team_group }}_users_{{ side }}, 0)
        end as {{ team_group }}_users_{{ side }},
        case
            when compared.{{ side }}_weeks = 4
            then
                case metric_names.metric
                    {% for metric, dividend, divisor in metrics %}
                    when '{{ metric }}'
                    then compared.{{ metric }}_{{ team_group }}_{{ side }}
                    {% endfor %}
                end
        end as {{ team_group }}_{{ side }}{{ ',' if not loop.last }}
        {% endfor %}
        {{- ',' if not loop.last }}
        {% endfor %}
    from events
    cross join metric_names
    left join compared using ({{ event | join(', ') }})

),

counted as (

    select
        *,
        least(affected_users_before, affected_users_after) as affected_users,
        case
            when is_for_every_team = 0
            then least(unaffected_users_before, unaffected_users_after)
        end as unaffected_users
    from known

),

shown as (

    select
        org_id,
        event_date,
        event_name,
        team,
        metric,
        before_weeks,
        after_weeks,
        affected_users,
        unaffected_users,
        {% for team_group in ['affected', 'unaffected'] %}
        coalesce({{ team_group }}_users < {{ var('smallest_group') }}, false)
            as is_{{ team_group }}_suppressed,
        {% for side in ['before', 'after'] %}
        case
            when {{ team_group }}_users >= {{ var('smallest_group') }}
            then {{ team_group }}_{{ side }}
        end as {{ team_group }}_{{ side }}{{ ',' if not loop.last }}
        {% endfor %}
        {{- ',' if not loop.last }}
        {% endfor %}
    from counted

),

final as (

    select
        *,
        {% for team_group in ['affected', 'unaffected'] %}
        {{ team_group }}_after / nullif({{ team_group }}_before, 0) - 1
            as {{ team_group }}_change,
        {% endfor %}
        affected_after / nullif(affected_before, 0)
        - unaffected_after / nullif(unaffected_before, 0) as change_difference
    from shown

)

select * from final
