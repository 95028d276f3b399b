with

days as (

    select * from {{ ref('stg_platform__usage_limits_days') }}

),

users as (

    select
        org_id,
        activity_date,
        lower(trim(user_email)) as user_email,
        max(credit_limit) as credit_limit
    from {{ ref('stg_platform__usage_limits_users') }}
    where user_email is not null
    group by 1, 2, 3

),

known_users as (

    select
        org_id,
        user_email,
        min(activity_date) as first_date
    from users
    where credit_limit is not null
    group by 1, 2

),

limits as (

    select
        org_id,
        activity_date,
        'global' as limit_scope,
        cast(null as string) as user_email,
        global_limit as credit_limit,
        global_limit as effective_limit
    from days

    union all

    select
        days.org_id,
        days.activity_date,
        'user' as limit_scope,
        known_users.user_email,
        users.credit_limit,
        coalesce(users.credit_limit, days.global_limit) as effective_limit
    from days
    inner join known_users
        on days.org_id = known_users.org_id
        and days.activity_date >= known_users.first_date
    left join users
        on days.org_id = users.org_id
        and days.activity_date = users.activity_date
        and known_users.user_email = users.user_email

),

followed as (

    select
        *,
        lag(activity_date) over by_limit as date_before,
        lag(credit_limit) over by_limit as credit_limit_before,
        lag(effective_limit) over by_limit as effective_limit_before
    from limits
    window
        by_limit as (
            partition by org_id, limit_scope, user_email
            order by activity_date
        )

),

-- The very first day, the first after a change, and the first after an unknown
-- night.
marked as (

    select
        *,
        case
            when
                date_before + 1 = activity_date
                and credit_limit is not distinct from credit_limit_before
                and effective_limit is not distinct from effective_limit_before
            then 0
            else 1
        end as is_first
    from followed

),

numbered as (

    select
        *,
        sum(is_first) over (
            partition by org_id, limit_scope, user_email
            order by activity_date
            rows between unbounded preceding and current row
        ) as period
    from marked

),

periods as (

    select
        org_id,
        limit_scope,
        user_email,
        period,
        max(credit_limit) as credit_limit,
        max(effective_limit) as effective_limit,
        min(activity_date) as valid_from,
        max(activity_date) as last_seen_date
    from numbered
    group by 1, 2, 3, 4

),

last_days as (

    select
        org_id,
        max(activity_date) as last_date
    from days
    group by 1

),

final as (

    select
        org_id,
        periods.limit_scope,
        periods.user_email,
        periods.credit_limit,
        periods.effective_limit,
        periods.valid_from,
        case
            when periods.last_seen_date < last_days.last_date
            then periods.last_seen_date + 1
        end as valid_to,
        periods.last_seen_date,
        periods.last_seen_date = last_days.last_date as is_current
    from periods
    inner join last_days using (org_id)

)

select * from final
