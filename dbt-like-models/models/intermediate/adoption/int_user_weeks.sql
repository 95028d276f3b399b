-- Built by whole weeks, as int_user_months is by months.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'week_start_date'],
        pre_hook="{{ delete_other_periods('week', 'int_user_week_versions') }}"
    )
}}

select
    users.org_id,
    due_days.week_start_date,
    users.user_id,
    max(
        case
            when users.mcp_calls > 0 then 1
            when users.mcp_calls is not null then 0
        end
    ) = 1 as is_mcp_user,
    max(due_days.week_digest) as week_digest
from {{ ref('fct_user_day') }} as users
inner join (
    {{ days_of_due(
        'week', 'int_user_week_versions', 'int_user_day_versions'
    ) }}
) as due_days using (org_id, activity_date)
where users.is_active and users.user_id not like '(%'
group by 1, 2, 3
