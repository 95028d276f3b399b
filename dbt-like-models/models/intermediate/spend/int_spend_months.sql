-- Built by whole months, because a pass over the users and models of every day
-- would be one of the most expensive steps of a night. The pre-hook deletes the
-- months whose days changed, which may be without rows now; a month of which only
-- the comparison or the teams changed has rows, so it is replaced.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'month_start_date'],
        pre_hook="{{ delete_other_periods('month', 'int_account_month_versions') }}"
    )
}}

with

days as (

    select
        served.org_id,
        served.activity_date,
        due_months.month_start_date,
        versions.month_digest,
        due_months.sums_digest,
        credit_days.previous_date is not null as is_compared,
        credit_days.next_date is not null as is_compared_later
    from {{ ref('stg_platform__tokens_days') }} as served
    inner join (
        {{ due(
            'int_spend_month_versions',
            ['org_id', 'month_start_date', 'sums_digest']
        ) }}
    ) as due_months
        on served.org_id = due_months.org_id
        and date_trunc('month', served.activity_date)
        = due_months.month_start_date
    inner join {{ ref('int_account_month_versions') }} as versions
        on due_months.org_id = versions.org_id
        and due_months.month_start_date = versions.month_start_date
    left join {{ ref('int_credit_days') }} as credit_days
        on served.org_id = credit_days.org_id
        and served.activity_date = credit_days.activity_date

),

final as (

    select
        used.org_id,
        days.month_start_date,
        used.user_id,
        case
            when used.user_id like '(%' then used.user_id
            else coalesce(history.team, '(no team)')
        end as team,
        used.model_id,
        days.is_compared,
        days.is_compared_later,
        {{ exact_sums_of_tokens() }},
        count(
            case when used.billable_tokens is null then 1 end
        ) as parts_without_credits,
        count(
            case
                when
                    used.billable_tokens != 0
                    and (
                        used.input_tokens is null
                        or used.output_tokens is null
                    )
                then 1
            end
        ) as parts_without_tokens,
        max(days.month_digest) as month_digest,
        max(days.sums_digest) as sums_digest
    from {{ ref('fct_user_model_day') }} as used
    inner join days
        on used.org_id = days.org_id
        and used.activity_date = days.activity_date
    left join {{ ref('dim_user_history') }} as history
        on used.org_id = history.org_id
        and used.user_id = history.user_id
        and {{ is_valid('history', 'used.activity_date') }}
    group by 1, 2, 3, 4, 5, 6, 7

)

select * from final
