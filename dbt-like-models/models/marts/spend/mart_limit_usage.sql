with

user_months as (

    select
        org_id,
        month_start_date,
        last_day(month_start_date) as month_end_date,
        user_id,
        max_by(
            user_email,
            case when user_email is not null then last_date end
        ) as user_email,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens
    from {{ ref('int_user_months') }}
    where user_id != '(unattributed)'
    group by 1, 2, 3, 4

),

known_months as (

    select * from {{ ref('int_resource_months') }}
    where resource = 'users'

),

limits as (

    select * from {{ ref('fct_usage_limit') }}

),

months as (

    select
        org_id,
        month_start_date,
        month_end_date
    from user_months
    group by 1, 2, 3

),

-- Limits were seen on every day of a period.
limit_dates as (

    select
        months.org_id,
        months.month_start_date,
        max(least(limits.last_seen_date, months.month_end_date)) as limit_date
    from months
    inner join limits
        on months.org_id = limits.org_id
        and limits.limit_scope = 'global'
        and limits.valid_from <= months.month_end_date
        and limits.last_seen_date >= months.month_start_date
    group by 1, 2

),

addressed as (

    select
        org_id,
        month_start_date,
        user_id,
        lower(trim(
            coalesce(user_months.user_email, users.user_email)
        )) as user_email,
        user_months.billable_tokens,
        known_months.known_days,
        cast(
            extract(day from user_months.month_end_date) as bigint
        ) as days_in_month,
        limit_dates.limit_date
    from user_months
    left join {{ ref('dim_user') }} as users using (org_id, user_id)
    left join known_months using (org_id, month_start_date)
    left join limit_dates using (org_id, month_start_date)

),

limited as (

    select
        addressed.*,
        addressed.limit_date is not null as is_limit_known,
        own.credit_limit as own_limit,
        coalesce(own.credit_limit, general.credit_limit) as effective_limit,
        try_cast(
            cast(addressed.billable_tokens as double)
            * addressed.days_in_month
            / addressed.known_days
            as decimal(38, 6)
        ) as forecast_billable_tokens
    from addressed
    left join limits as general
        on addressed.org_id = general.org_id
        and general.limit_scope = 'global'
        and general.valid_from <= addressed.limit_date
        and general.last_seen_date >= addressed.limit_date
    left join limits as own
        on addressed.org_id = own.org_id
        and own.limit_scope = 'user'
        and addressed.user_email = own.user_email
        and own.valid_from <= addressed.limit_date
        and own.last_seen_date >= addressed.limit_date

),

final as (

    select
        org_id,
        month_start_date,
        user_id,
        user_email,
        coalesce(user_email, user_id) as user_label,
        billable_tokens,
        known_days,
        days_in_month,
        forecast_billable_tokens,
        limit_date,
        is_limit_known,
        case
            when not is_limit_known then null
            when own_limit is not null then 'user'
            else 'global'
        end as limit_scope,
        effective_limit,
        cast(billable_tokens as double)
        / nullif(effective_limit, 0) as share_of_limit,
        case
            when effective_limit is not null
            then billable_tokens > effective_limit
            when is_limit_known then false
        end as is_exceeded,
        case
            when effective_limit is not null
            then forecast_billable_tokens > effective_limit
            when is_limit_known then false
        end as will_exceed
    from limited

)

select * from final
