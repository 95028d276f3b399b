-- Built by whole months, because a pass over the users of every day would be
-- one of the most expensive steps of a night.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'month_start_date'],
        pre_hook="{{ delete_other_periods('month', 'int_user_month_versions') }}"
    )
}}

select
    users.org_id,
    due_days.month_start_date,
    users.user_id,
    users.user_email,
    min(users.activity_date) as first_date,
    max(users.activity_date) as last_date,
    min(case when users.is_active then users.activity_date end)
        as first_active_date,
    max(case when users.is_active then users.activity_date end)
        as last_active_date,
    count(case when users.is_active then 1 end) as active_days,
    {{ sum_of_credits('users.billable_tokens') }} as billable_tokens,
    max(due_days.month_digest) as month_digest
from {{ ref('fct_user_day') }} as users
inner join (
    {{ days_of_due(
        'month', 'int_user_month_versions', 'int_user_day_versions'
    ) }}
) as due_days using (org_id, activity_date)
group by 1, 2, 3, 4
