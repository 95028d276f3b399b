-- The forecast for some days is the sum of the means of their weekdays in the
-- weeks before. The band comes from the errors of such sums over the same
-- number of days, on the days of the year before, so that the work for a day
-- does not grow with the history. Ratios are doubles; credits are decimals.

with

credit_days as (

    {{ credits_of_days() }}

),

numbers as (

    {% for number in [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    ] %}
    select {{ number }} as number
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

-- The expected credits of a day: the mean of its weekday in the weeks before.
profiles as (

    select
        org_id,
        cast(activity_date + 7 * numbers.number as date) as activity_date,
        {{ credits_of_double(
            'cast(sum(billable_tokens) as double) / count(*)'
        ) }} as profile
    from credit_days
    cross join numbers
    where numbers.number <= {{ var('forecast_weeks') }}
        and billable_tokens is not null
    group by 1, 2

),

-- An unknown day in between counts with its expected credits.
days as (

    select
        org_id,
        activity_date,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        cast(
            extract(day from last_day(activity_date))
            - extract(day from activity_date)
            as integer
        ) as days_left,
        credit_days.billable_tokens,
        case
            when credit_days.is_asked = 1
            then coalesce(credit_days.billable_tokens, profiles.profile)
        end as filled,
        profiles.profile
    from credit_days
    full outer join profiles using (org_id, activity_date)

),

added as (

    select
        *,
        {% for column in ['filled', 'profile'] %}
        cast(
            sum(coalesce({{ column }}, 0)) over by_day as decimal(38, 6)
        ) as {{ column }}_so_far,
        {% endfor %}
        count(filled) over by_day as filled_days,
        cast(
            sum(billable_tokens) over by_month as decimal(38, 6)
        ) as month_to_date,
        count(billable_tokens) over by_month as known_days,
        cast(
            sum(filled) over by_month as decimal(38, 6)
        ) as filled_to_date,
        count(filled) over by_month as filled_month_days,
        sum(profile) over next_week as next_week_profile,
        count(profile) over next_week as next_week_days
    from days
    window
        next_week as (
            partition by org_id
            order by activity_date
            range between interval 1 day following
            and interval 7 days following
        ),
        by_day as (
            partition by org_id
            order by activity_date
            rows between unbounded preceding and current row
        ),
        by_month as (
            partition by org_id, month_start_date
            order by activity_date
            rows between unbounded preceding and current row
        )

),

origins as (

    select
        added.org_id,
        added.activity_date as origin_date,
        numbers.number as span_days,
        cast(added.activity_date + numbers.number % 7 as date) as rest_date,
        cast(added.activity_date + numbers.number as date) as end_date,
        cast(added.next_week_profile as double)
        * ((numbers.number - numbers.number % 7) / 7) as expected_in_weeks,
        added.profile_so_far,
        added.filled_so_far,
        added.filled_days
    from added
    cross join numbers
    where added.next_week_days = 7

),

-- For each number of days after a day: the expected and the actual credits.
-- Every week is expected to equal the first one.
spans as (

    select
        origins.org_id,
        origins.origin_date,
        origins.span_days,
        origins.expected_in_weeks
        + cast(rests.profile_so_far - origins.profile_so_far as double)
            as expected,
        case
            when ends.filled_days - origins.filled_days = origins.span_days
            then cast(ends.filled_so_far - origins.filled_so_far as double)
        end as actual
    from origins
    inner join added as rests
        on origins.org_id = rests.org_id
        and origins.rest_date = rests.activity_date
    left join added as ends
        on origins.org_id = ends.org_id
        and origins.end_date = ends.activity_date

),

as_of_days as (

    select
        *,
        cast(activity_date - days_left as date) as last_origin_date
    from added
    where billable_tokens is not null

),

ratios as (

    select
        as_of_days.org_id,
        as_of_days.activity_date,
        as_of_days.days_left,
        spans.actual / spans.expected as ratio,
        row_number() over (
            partition by as_of_days.org_id, as_of_days.activity_date
            order by spans.actual / spans.expected
        ) as place,
        count(*) over (
            partition by as_of_days.org_id, as_of_days.activity_date
        ) as past_spans
    from as_of_days
    inner join spans
        on as_of_days.org_id = spans.org_id
        and as_of_days.days_left = spans.span_days
        and spans.origin_date <= as_of_days.last_origin_date
        and as_of_days.last_origin_date
        < cast(spans.origin_date + {{ var('forecast_error_days') }} as date)
    where spans.actual is not null and spans.expected > 0

),

-- Spans of many days overlap, so there is less evidence than their number
-- suggests: a tenth is left out at each end, counting two fewer spans for each
-- remaining day.
trimmed as (

    select
        *,
        greatest(floor((past_spans - 2 * days_left) / 10), 0) as dropped
    from ratios

),

bands as (

    select
        org_id,
        activity_date,
        past_spans,
        min(case when place > dropped then ratio end) as low,
        percentile_cont(0.5) within group (order by ratio) as middle,
        max(case when place <= past_spans - dropped then ratio end) as high
    from trimmed
    group by 1, 2, 3

),

month_totals as (

    select
        org_id,
        month_start_date,
        cast(extract(day from last_day(month_start_date)) as bigint)
            as days_in_month,
        case
            when count(billable_tokens)
            = extract(day from last_day(month_start_date))
            then {{ sum_of_credits('billable_tokens') }}
        end as actual
    from days
    group by 1, 2

),

-- The platform has limits for users only. Those who have no row yet may still
-- consume: without them, the sum would be far too low in the first days.
limits as (

    select
        org_id,
        month_start_date,
        case
            when count(*) = count(effective_limit)
            then {{ sum_of_counts('effective_limit') }}
        end as credit_limit
    from (
        select
            org_id,
            month_start_date,
            effective_limit
        from {{ ref('mart_limit_usage') }}

        union all

        select
            before.org_id,
            cast(last_day(before.month_start_date) + 1 as date)
                as month_start_date,
            before.effective_limit
        from {{ ref('mart_limit_usage') }} as before
        left join {{ ref('mart_limit_usage') }} as users
            on before.org_id = users.org_id
            and before.user_id = users.user_id
            and last_day(before.month_start_date) + 1 = users.month_start_date
        where before.effective_limit is not null and users.user_id is null
    ) as limited_users
    group by 1, 2

),

as_of_months as (

    select
        as_of_days.*,
        month_totals.days_in_month,
        month_totals.actual,
        limits.credit_limit,
        as_of_days.filled_month_days + as_of_days.days_left
        = month_totals.days_in_month as is_filled
    from as_of_days
    inner join month_totals using (org_id, month_start_date)
    left join limits using (org_id, month_start_date)

),

forecasts as (

    select
        as_of_months.*,
        previous.actual as previous_actual,
        {{ credits_of_double(
            'cast(month_to_date as double) * as_of_months.days_in_month'
            ~ ' / known_days'
        ) }} as straight_line,
        coalesce(bands.past_spans, 0) as past_spans,
        {% for quantile in ['low', 'middle', 'high'] %}
        case
            when not as_of_months.is_filled then null
            when as_of_months.days_left = 0 then as_of_months.filled_to_date
            when bands.past_spans >= {{ var('forecast_least_spans') }}
            then as_of_months.filled_to_date
                + {{ credits_of_double('spans.expected * bands.' ~ quantile) }}
        end as {{ quantile }}_total,
        {% endfor %}
        bands.middle
    from as_of_months
    left join month_totals as previous
        on as_of_months.org_id = previous.org_id
        and previous.month_start_date
        = cast(date_trunc('month', as_of_months.month_start_date - 1) as date)
    left join spans
        on as_of_months.org_id = spans.org_id
        and as_of_months.activity_date = spans.origin_date
        and as_of_months.days_left = spans.span_days
    left join bands
        on as_of_months.org_id = bands.org_id
        and as_of_months.activity_date = bands.activity_date

),

-- The first day on which the limit was reached, or is expected to be.
exhaustions as (

    select
        org_id,
        activity_date,
        min(exhaustion_date) as exhaustion_date
    from (
        select
            as_of_months.org_id,
            as_of_months.activity_date,
            past.activity_date as exhaustion_date
        from as_of_months
        inner join as_of_months as past
            on as_of_months.org_id = past.org_id
            and as_of_months.month_start_date = past.month_start_date
            and as_of_months.activity_date >= past.activity_date
        where past.is_filled and past.filled_to_date >= past.credit_limit

        union all

        select
            forecasts.org_id,
            forecasts.activity_date,
            cast(spans.origin_date + spans.span_days as date)
                as exhaustion_date
        from forecasts
        inner join spans
            on forecasts.org_id = spans.org_id
            and forecasts.activity_date = spans.origin_date
            and spans.span_days <= forecasts.days_left
        where forecasts.middle_total is not null
            and forecasts.filled_to_date
            + {{ credits_of_double('spans.expected * forecasts.middle') }}
            >= forecasts.credit_limit
    ) as exhausted
    group by 1, 2

),

final as (

    select
        org_id,
        forecasts.month_start_date,
        activity_date as as_of_date,
        forecasts.days_left,
        forecasts.known_days,
        forecasts.days_in_month,
        forecasts.month_to_date as month_to_date_billable_tokens,
        forecasts.low_total as forecast_billable_tokens_p10,
        forecasts.middle_total as forecast_billable_tokens_p50,
        forecasts.high_total as forecast_billable_tokens_p90,
        forecasts.past_spans,
        forecasts.previous_actual as last_month_billable_tokens,
        forecasts.straight_line as straight_line_billable_tokens,
        forecasts.credit_limit,
        exhaustions.exhaustion_date,
        forecasts.actual as actual_billable_tokens,
        case
            when forecasts.days_left > 0 and forecasts.middle_total is not null
            then
                forecasts.actual >= forecasts.low_total
                and forecasts.actual <= forecasts.high_total
        end as is_within_band,
        {% for forecast, column in [
            ['middle_total', 'absolute_percentage_error'],
            ['previous_actual', 'last_month_error'],
            ['straight_line', 'straight_line_error'],
        ] %}
        case
            when
                forecasts.days_left > 0
                and forecasts.middle_total is not null
                and forecasts.actual > 0
            then
                abs(cast(forecasts.{{ forecast }} - forecasts.actual as double))
                / cast(forecasts.actual as double)
        end as {{ column }}{{ ',' if not loop.last }}
        {% endfor %}
    from forecasts
    left join exhaustions using (org_id, activity_date)

)

select * from final
