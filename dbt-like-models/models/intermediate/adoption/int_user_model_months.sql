-- Built by whole months, like int_user_months.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'month_start_date'],
        pre_hook="
            {{ delete_other_versions(
                'int_account_month_versions',
                ['org_id', 'month_start_date', 'month_digest']
            ) }}
        "
    )
}}

with

due_days as (

    {{ days_of_due(
        'month', 'int_account_month_versions', 'stg_platform__tokens_days'
    ) }}

),

final as (

    select
        user_models.org_id,
        due_days.month_start_date,
        user_models.user_id,
        max(due_days.month_digest) as month_digest
    from {{ ref('fct_user_model_day') }} as user_models
    inner join due_days using (org_id, activity_date)
    group by 1, 2, 3

)

select * from final
