with

bounds as (

    select
        org_id,
        min(activity_date) as first_date,
        max(activity_date) as last_date,
        cast(date_trunc('week', min(activity_date)) as date) as first_monday
    from (
        {% for fact in ['org', 'user', 'model', 'tool', 'client'] %}
        select
            org_id,
            activity_date
        from {{ ref('fct_' ~ fact ~ '_day') }}
        {% if not loop.last %}

        union all

        {% endif %}
        {% endfor %}
    ) as facts
    group by 1

),

digits as (

    {% for digit in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] %}
    select {{ digit }} as digit
    {{ 'union all' if not loop.last }}
    {% endfor %}

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
        org_id,
        cast(first_monday + n as date) as activity_date,
        cast(first_monday + (n - n % 7) as date) as week_start_date,
        cast(first_monday + (n - n % 7 + 3) as date) as thursday,
        n % 7 + 1 as iso_weekday,
        first_date,
        last_date
    from bounds
    cross join numbers

),

described as (

    select
        org_id,
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
        coalesce(analytics_dates.is_settled = 1, false) as is_final,
        coalesce(analytics_dates.is_complete = 1, false) as is_complete
    from described
    left join (
        {{ analytics_days() }}
    ) as analytics_dates using (org_id, activity_date)

)

select * from final
