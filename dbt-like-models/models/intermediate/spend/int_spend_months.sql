-- Built by whole months, because a pass over the users and models of every day
-- would be one of the most expensive steps of a night. The months before and
-- after are those of int_credit_days.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'month_start_date'],
        pre_hook="
            {{ delete_other_versions(
                'int_spend_month_versions',
                ['org_id', 'month_start_date', 'month_digest']
            ) }}
        "
    )
}}

with

due_days as (

    {{ days_of_due(
        'month', 'int_spend_month_versions', 'stg_platform__tokens_days'
    ) }}

),

compared_days as (

    select
        due_days.*,
        credit_days.previous_date is not null as is_compared,
        credit_days.next_date is not null as is_compared_later
    from due_days
    left join {{ ref('int_credit_days') }} as credit_days
        using (org_id, activity_date)

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
        max(days.month_digest) as month_digest
    from {{ ref('fct_user_model_day') }} as used
    inner join compared_days as days
        on used.org_id = days.org_id
        and used.activity_date = days.activity_date
    left join {{ ref('dim_user_history') }} as history
        on used.org_id = history.org_id
        and used.user_id = history.user_id
        and {{ is_valid('history', 'used.activity_date') }}
    group by 1, 2, 3, 4, 5, 6, 7

)

select * from final
