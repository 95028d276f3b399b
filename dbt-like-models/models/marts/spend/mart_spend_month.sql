with

credit_days as (

    select
        org_id,
        activity_date,
        month_start_date,
        previous_date is not null as is_compared,
        next_date is not null as is_compared_later
    from {{ ref('int_credit_days') }}

),

model_parts as (

    select
        org_id,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        models.model_id,
        coalesce(credit_days.is_compared, false) as is_compared,
        coalesce(credit_days.is_compared_later, false) as is_compared_later,
        {{ exact_sums_of_tokens() }},
        count(case when models.billable_tokens is null then 1 end) as unsent
    from {{ ref('fct_model_day') }} as models
    left join credit_days using (org_id, activity_date)
    group by 1, 2, 3, 4, 5

),

user_parts as (

    select
        org_id,
        month_start_date,
        user_id,
        team,
        is_compared,
        is_compared_later,
        {{ exact_sums_of_tokens() }},
        sum(parts_without_credits) as unsent
    from {{ ref('int_spend_months') }}
    group by 1, 2, 3, 4, 5, 6

),

dimensions as (

    select 'user' as dimension

    union all

    select 'team' as dimension

),

parts as (

    select
        org_id,
        month_start_date,
        'model' as dimension,
        model_id as member,
        is_compared,
        is_compared_later,
        billable_tokens,
        input_tokens,
        output_tokens,
        unsent
    from model_parts

    union all

    select
        user_parts.org_id,
        user_parts.month_start_date,
        dimensions.dimension,
        case dimensions.dimension
            when 'user' then user_parts.user_id
            else user_parts.team
        end as member,
        user_parts.is_compared,
        user_parts.is_compared_later,
        user_parts.billable_tokens,
        user_parts.input_tokens,
        user_parts.output_tokens,
        user_parts.unsent
    from user_parts
    cross join dimensions

),

-- A part counts in its own month, and as the past of the next month.
sides as (

    select
        org_id,
        month_start_date,
        dimension,
        member,
        1 as is_present,
        billable_tokens,
        input_tokens,
        output_tokens,
        case when is_compared then billable_tokens end as compared_credits,
        case when is_compared then unsent else 0 end as compared_unsent,
        cast(null as decimal(38, 6)) as previous_credits,
        0 as previous_unsent
    from parts

    union all

    select
        org_id,
        cast(last_day(month_start_date) + 1 as date) as month_start_date,
        dimension,
        member,
        0 as is_present,
        cast(null as decimal(38, 6)) as billable_tokens,
        cast(null as decimal(38, 6)) as input_tokens,
        cast(null as decimal(38, 6)) as output_tokens,
        cast(null as decimal(38, 6)) as compared_credits,
        0 as compared_unsent,
        billable_tokens as previous_credits,
        unsent as previous_unsent
    from parts
    where is_compared_later

),

members as (

    select
        org_id,
        month_start_date,
        dimension,
        member,
        {% for metric in ['billable_tokens', 'input_tokens', 'output_tokens'] %}
        case
            when max(is_present) = 0 then 0 else {{ sum_of_metric(metric) }}
        end as {{ metric }},
        {% endfor %}
        {% for side in ['compared', 'previous'] %}
        case
            when sum({{ side }}_unsent) = 0
            then coalesce({{ sum_of_credits(side ~ '_credits') }}, 0)
        end as {{ side }}_billable_tokens{{ ',' if not loop.last }}
        {% endfor %}
    from sides
    group by 1, 2, 3, 4

),

compared_months as (

    select
        org_id,
        month_start_date,
        count(*) as compared_days
    from credit_days
    where is_compared
    group by 1, 2

),

known_months as (

    select * from {{ ref('int_resource_months') }}
    where resource = 'tokens'

),

final as (

    select
        org_id,
        month_start_date,
        members.dimension,
        members.member,
        members.billable_tokens,
        members.input_tokens,
        members.output_tokens,
        cast(members.billable_tokens as double) / nullif(
            sum(members.billable_tokens) over (
                partition by org_id, month_start_date, members.dimension
            ),
            0
        ) as share_of_month,
        known_months.known_days,
        known_months.days_in_month,
        coalesce(compared_months.compared_days, 0) as compared_days,
        {% for side in ['compared', 'previous'] %}
        case
            when compared_months.compared_days > 0
            then members.{{ side }}_billable_tokens
        end as {{ side }}_billable_tokens{{ ',' if not loop.last }}
        {% endfor %}
    from members
    left join known_months using (org_id, month_start_date)
    left join compared_months using (org_id, month_start_date)

)

select * from final
