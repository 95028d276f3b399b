with

org_days as (

    select * from {{ ref('fct_org_day') }}

),

user_days as (

    select * from {{ ref('fct_user_day') }}

),

model_days as (

    select * from {{ ref('fct_model_day') }}

),

tool_days as (

    select * from {{ ref('fct_tool_day') }}

),

client_days as (

    select * from {{ ref('fct_client_day') }}

),

intervals as (

    select * from {{ ref('stg_platform__intervals') }}

),

fact_dates as (

    select activity_date from org_days

    union

    select activity_date from user_days

    union

    select activity_date from model_days

    union

    select activity_date from tool_days

    union

    select activity_date from client_days

),

bounds as (

    select
        min(activity_date) as first_date,
        max(activity_date) as last_date,
        cast(date_trunc('week', min(activity_date)) as date) as first_monday
    from fact_dates

),

digits as (

    select 0 as digit
    union all select 1
    union all select 2
    union all select 3
    union all select 4
    union all select 5
    union all select 6
    union all select 7
    union all select 8
    union all select 9

),

numbers as (

    select
        ones.digit
        + 10 * tens.digit
        + 100 * hundreds.digit
        + 1000 * thousands.digit as n
    from digits as ones
    cross join digits as tens
    cross join digits as hundreds
    cross join digits as thousands

),

days as (

    select
        cast(bounds.first_monday + numbers.n as date) as activity_date,
        cast(
            bounds.first_monday + (numbers.n - numbers.n % 7) as date
        ) as week_start_date,
        cast(
            bounds.first_monday + (numbers.n - numbers.n % 7 + 3) as date
        ) as thursday,
        numbers.n % 7 + 1 as iso_weekday,
        bounds.first_date,
        bounds.last_date
    from bounds
    cross join numbers

),

-- Analytics alone: the other resources describe the night they were fetched.
analytics_dates as (

    select
        activity_date,
        min(case when is_settled then 1 else 0 end) = 1 as is_final,
        min(
            case when status in ('landed', 'empty') then 1 else 0 end
        ) = 1 as is_complete
    from intervals
    where
        resource in (
            'tokens',
            'tokens_by_model',
            'tools',
            'tools_by_name',
            'activity',
            'activity_by_client',
            'productivity',
            'users'
        )
    group by 1

),

described as (

    select
        activity_date,
        cast(extract(year from activity_date) as bigint) as year,
        cast(extract(quarter from activity_date) as bigint) as quarter,
        cast(extract(month from activity_date) as bigint) as month,
        cast(extract(day from activity_date) as bigint) as day_of_month,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        week_start_date,
        cast(extract(year from thursday) as bigint) as iso_year,
        cast(extract(week from activity_date) as bigint) as iso_week,
        cast(iso_weekday as bigint) as iso_weekday,
        case iso_weekday
            when 1 then 'Monday'
            when 2 then 'Tuesday'
            when 3 then 'Wednesday'
            when 4 then 'Thursday'
            when 5 then 'Friday'
            when 6 then 'Saturday'
            when 7 then 'Sunday'
        end as weekday_name,
        iso_weekday >= 6 as is_weekend
    from days
    where activity_date >= first_date and activity_date <= last_date

),

final as (

    select
        described.*,
        cast(described.iso_year as string)
        || '-W'
        || lpad(cast(described.iso_week as string), 2, '0') as iso_week_name,
        coalesce(analytics_dates.is_final, false) as is_final,
        coalesce(analytics_dates.is_complete, false) as is_complete
    from described
    left join analytics_dates
        on described.activity_date = analytics_dates.activity_date

)

select * from final
