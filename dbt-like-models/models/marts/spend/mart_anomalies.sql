with

days as (

    select
        org_id,
        activity_date,
        iso_weekday,
        max(activity_date) over (partition by org_id) as last_date
    from {{ ref('dim_date') }}

),

-- The organisation is a user with an empty name, which no user has.
consumed as (

    select
        org_id,
        'user' as scope,
        user_id,
        activity_date,
        billable_tokens,
        cast(null as bigint) as users
    from {{ ref('fct_user_day') }}
    where user_id not like '(%' and billable_tokens > 0

    union all

    select
        org_id,
        'org' as scope,
        '' as user_id,
        activity_date,
        billable_tokens,
        daily_active_users as users
    from {{ ref('fct_org_day') }}
    where billable_tokens > 0

),

recent as (

    select
        org_id,
        consumed.scope,
        consumed.user_id,
        activity_date,
        consumed.billable_tokens,
        consumed.users,
        ln(cast(consumed.billable_tokens as double) + 1) as log_tokens,
        days.iso_weekday,
        activity_date > days.last_date - {{ var('anomaly_days') }} as is_judged
    from consumed
    inner join days using (org_id, activity_date)
    where
        activity_date > days.last_date
        - {{ var('anomaly_days') + 7 * var('anomaly_weeks') }}

),

usual as (

    select
        org_id,
        scope,
        user_id,
        judged.activity_date,
        max(judged.billable_tokens) as billable_tokens,
        min(history.billable_tokens) as usual_low,
        max(history.billable_tokens) as usual_high,
        max(judged.log_tokens) as log_tokens,
        min(history.log_tokens) as lowest_log,
        max(history.log_tokens) as highest_log,
        percentile_cont(0.5) within group (
            order by history.log_tokens
        ) as usual_log,
        percentile_cont(0.5) within group (
            order by history.users
        ) as usual_users
    from recent as judged
    inner join recent as history using (org_id, scope, user_id, iso_weekday)
    where
        judged.is_judged
        and history.activity_date < judged.activity_date
        and history.activity_date
        >= judged.activity_date - {{ 7 * var('anomaly_weeks') }}
    group by 1, 2, 3, 4
    having count(*) >= {{ var('anomaly_smallest_history') }}

),

-- The sum over a few users says no more than their own days.
deviations as (

    select
        *,
        log_tokens - usual_log as deviation,
        case
            when log_tokens > usual_log then highest_log - usual_log
            else usual_log - lowest_log
        end as farthest_deviation
    from usual
    where scope = 'user' or usual_users > {{ var('anomaly_smallest_peers') }}

),

-- The spread of a normal distribution with this median deviation.
own_spreads as (

    select
        org_id,
        scope,
        user_id,
        1.4826 * percentile_cont(0.5) within group (
            order by abs(deviation)
        ) as spread
    from deviations
    group by 1, 2, 3
    having count(*) >= {{ var('anomaly_smallest_history') }}

),

-- Or the spread of a normal distribution whose 5 % tails begin where those of
-- the organisation's user days begin.
org_spreads as (

    select
        org_id,
        scope,
        percentile_cont(0.05) within group (
            order by deviation
        ) / -1.645 as spread_below,
        percentile_cont(0.95) within group (
            order by deviation
        ) / 1.645 as spread_above
    from deviations
    where scope = 'user'
    group by 1, 2
    having count(*) >= {{ var('anomaly_smallest_sample') }}

),

peers as (

    select
        org_id,
        scope,
        activity_date,
        percentile_cont(0.5) within group (order by deviation) as deviation
    from deviations
    where scope = 'user'
    group by 1, 2, 3
    having count(*) > {{ var('anomaly_smallest_peers') }}

),

peer_spreads as (

    select
        org_id,
        scope,
        activity_date,
        peers.deviation,
        1.4826 * percentile_cont(0.5) within group (
            order by abs(deviations.deviation - peers.deviation)
        ) as spread
    from deviations
    inner join peers using (org_id, scope, activity_date)
    group by 1, 2, 3, 4

),

scored as (

    select
        org_id,
        activity_date,
        scope,
        user_id,
        deviations.billable_tokens,
        deviations.usual_log,
        deviations.usual_low,
        deviations.usual_high,
        abs(deviations.deviation)
        >= {{ var('anomaly_farthest') }} * deviations.farthest_deviation
            as is_farthest,
        deviations.deviation / greatest(
            coalesce(own_spreads.spread, 0),
            case
                when deviations.deviation > 0
                    then coalesce(org_spreads.spread_above, 0)
                else coalesce(org_spreads.spread_below, 0)
            end,
            {{ var('anomaly_smallest_spread') }}
        ) as score,
        (deviations.deviation - peer_spreads.deviation) / greatest(
            peer_spreads.spread, {{ var('anomaly_smallest_spread') }}
        ) as peers_score
    from deviations
    left join org_spreads using (org_id, scope)
    left join own_spreads using (org_id, scope, user_id)
    left join peer_spreads using (org_id, scope, activity_date)
    where scope = 'org' or org_spreads.spread_above is not null

),

final as (

    select
        org_id,
        activity_date,
        scope,
        nullif(user_id, '') as user_id,
        'billable_tokens' as metric,
        billable_tokens as value,
        exp(usual_log) - 1 as expected,
        usual_low,
        usual_high,
        score,
        peers_score
    from scored
    where
        is_farthest
        and (
            score >= {{ var('anomaly_score') }}
            or score <= -{{ var('anomaly_score_below') }}
        )
        and coalesce(
            case when score > 0 then peers_score else -peers_score end
            >= {{ var('anomaly_peers_score') }},
            true
        )

)

select * from final
