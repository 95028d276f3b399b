-- Built by whole months, like int_user_months.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'month_start_date'],
        pre_hook="{{ delete_other_periods('month', 'int_account_month_versions') }}"
    )
}}

select
    accounts.org_id,
    due_days.month_start_date,
    accounts.user_id,
    accounts.user_email,
    min(accounts.activity_date) as first_date,
    max(accounts.activity_date) as last_date,
    max(due_days.month_digest) as month_digest
from {{ ref('stg_platform__tokens_users') }} as accounts
inner join (
    {{ days_of_due(
        'month', 'int_account_month_versions', 'stg_platform__tokens_days'
    ) }}
) as due_days using (org_id, activity_date)
group by 1, 2, 3, 4
