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
        accounts.org_id,
        due_days.month_start_date,
        accounts.user_id,
        accounts.user_email,
        min(accounts.activity_date) as first_date,
        max(accounts.activity_date) as last_date,
        max(due_days.month_digest) as month_digest
    from {{ ref('stg_platform__tokens_users') }} as accounts
    inner join due_days using (org_id, activity_date)
    group by 1, 2, 3, 4

)

select * from final
