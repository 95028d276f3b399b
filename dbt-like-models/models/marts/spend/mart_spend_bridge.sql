-- Credits at another rate are doubles, rounded to hundredths of a credit. All
-- other numbers are sums and differences of decimals, so the components add up
-- exactly.
{% set parts = [
    ['joined', 'joined_users', 'coalesce(explained.joined_users, 0)'],
    ['left', 'left_users', 'coalesce(explained.left_users, 0)'],
    ['volume', 'volume', 'coalesce(explained.stayed_users, 0)'],
    ['model_mix', 'model_mix', 'coalesce(explained.stayed_users, 0)'],
    ['rate', 'rate', 'coalesce(explained.stayed_users, 0)'],
    ['unattributed', '(unattributed)', 'cast(null as bigint)'],
] %}

with

months as (

    select
        org_id,
        month_start_date,
        count(*) as compared_days,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        {{ sum_of_credits('previous_billable_tokens') }}
            as previous_billable_tokens
    from {{ ref('int_credit_days') }}
    where previous_date is not null
    group by 1, 2

),

parts as (

    select * from {{ ref('int_spend_months') }}

),

-- A part counts in its own month, and as the past of the next month.
sides as (

    select
        org_id,
        month_start_date,
        user_id,
        model_id,
        coalesce(billable_tokens, 0) as credits,
        cast(0 as decimal(38, 6)) as past_credits,
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as tokens,
        cast(0 as decimal(38, 6)) as past_tokens,
        parts_without_tokens,
        parts_without_credits
    from parts
    where is_compared

    union all

    select
        org_id,
        cast(last_day(month_start_date) + 1 as date) as month_start_date,
        user_id,
        model_id,
        cast(0 as decimal(38, 6)) as credits,
        coalesce(billable_tokens, 0) as past_credits,
        cast(0 as decimal(38, 6)) as tokens,
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as past_tokens,
        parts_without_tokens,
        parts_without_credits
    from parts
    where is_compared_later

),

user_models as (

    select
        org_id,
        month_start_date,
        user_id,
        model_id,
        {{ sum_of_credits('credits') }} as credits,
        {{ sum_of_credits('past_credits') }} as past_credits,
        {{ exact_sum('tokens') }} as tokens,
        {{ exact_sum('past_tokens') }} as past_tokens,
        sum(parts_without_tokens) as parts_without_tokens,
        sum(parts_without_credits) as parts_without_credits
    from sides
    where user_id not like '(%'
    group by 1, 2, 3, 4

),

-- A user whose credits were not sent for some of the days is not known to have
-- joined, left or stayed.
users as (

    select
        org_id,
        month_start_date,
        user_id,
        case
            when sum(past_credits) = 0 then 'joined'
            when sum(credits) = 0 then 'left'
            else 'stayed'
        end as status,
        {{ sum_of_credits('credits - past_credits') }} as change
    from user_models
    group by 1, 2, 3
    having
        (sum(credits) != 0 or sum(past_credits) != 0)
        and sum(parts_without_credits) = 0

),

user_changes as (

    select
        org_id,
        month_start_date,
        {{ sum_of_credits("case when status = 'joined' then change end") }}
            as joined_change,
        {{ sum_of_credits("case when status = 'left' then change end") }}
            as left_change,
        count(case when status = 'joined' then 1 end) as joined_users,
        count(case when status = 'left' then 1 end) as left_users,
        count(case when status = 'stayed' then 1 end) as stayed_users
    from users
    group by 1, 2

),

stayed_models as (

    select
        org_id,
        month_start_date,
        user_models.model_id,
        {{ sum_of_credits('user_models.credits') }} as credits,
        {{ sum_of_credits('user_models.past_credits') }} as past_credits,
        {{ exact_sum('user_models.tokens') }} as tokens,
        {{ exact_sum('user_models.past_tokens') }} as past_tokens
    from user_models
    inner join users using (org_id, month_start_date, user_id)
    where users.status = 'stayed' and user_models.model_id not like '(%'
    group by 1, 2, 3
    having sum(user_models.parts_without_tokens) = 0

),

-- A new model has no earlier rate, so its own rate is used.
rated_models as (

    select
        *,
        case
            when past_tokens > 0
            then {{ credits_at_rate('past_credits', 'tokens', 'past_tokens') }}
            else credits
        end as credits_at_past_rate
    from stayed_models
    where
        (credits = 0 or tokens > 0)
        and (past_credits = 0 or past_tokens > 0)

),

rated_months as (

    select
        org_id,
        month_start_date,
        {{ sum_of_credits('credits') }} as credits,
        {{ sum_of_credits('past_credits') }} as past_credits,
        {{ sum_of_credits('credits_at_past_rate') }} as credits_at_past_rates,
        {{ exact_sum('tokens') }} as tokens,
        {{ exact_sum('past_tokens') }} as past_tokens
    from rated_models
    where credits_at_past_rate is not null
    group by 1, 2

),

stayed_changes as (

    select
        org_id,
        month_start_date,
        {{ difference_of_credits('credits_at_mean_rate', 'past_credits') }}
            as volume_change,
        {{ difference_of_credits(
            'credits_at_past_rates', 'credits_at_mean_rate'
        ) }} as model_mix_change,
        {{ difference_of_credits('credits', 'credits_at_past_rates') }}
            as rate_change
    from (
        select
            *,
            {{ credits_at_rate('past_credits', 'tokens', 'past_tokens') }}
                as credits_at_mean_rate
        from rated_months
        where past_tokens > 0
    ) as rated
    where credits_at_mean_rate is not null

),

changes as (

    select
        org_id,
        month_start_date,
        months.compared_days,
        months.billable_tokens,
        months.previous_billable_tokens,
        user_changes.joined_users,
        user_changes.left_users,
        user_changes.stayed_users,
        {% for part in ['joined', 'left', 'volume', 'model_mix', 'rate'] %}
        coalesce({{ part }}_change, 0) as {{ part }}_change
        {{- ',' if not loop.last }}
        {% endfor %}
    from months
    left join user_changes using (org_id, month_start_date)
    left join stayed_changes using (org_id, month_start_date)

),

-- The remainder, so that the components are complete.
explained as (

    select
        *,
        {{ difference_of_credits(
            'billable_tokens - previous_billable_tokens',
            '(joined_change + left_change + volume_change + model_mix_change'
            ~ ' + rate_change)'
        ) }} as unattributed_change
    from changes

),

components as (

    {% for part, component, users in parts %}
    select
        '{{ component }}' as component,
        {{ loop.index }} as component_order
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

-- A cross join instead of a union of six selects, because Spark would compute a
-- relation that is read six times six times.
final as (

    select
        explained.org_id,
        explained.month_start_date,
        components.component,
        cast(components.component_order as bigint) as component_order,
        case components.component_order
            {% for part, component, users in parts %}
            when {{ loop.index }} then explained.{{ part }}_change
            {% endfor %}
        end as billable_tokens_change,
        case components.component_order
            {% for part, component, users in parts %}
            when {{ loop.index }} then {{ users }}
            {% endfor %}
        end as component_users,
        explained.billable_tokens,
        explained.previous_billable_tokens,
        explained.compared_days
    from explained
    cross join components

)

select * from final
