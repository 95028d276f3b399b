-- Days with more users in a shorter window than in a longer one that holds it.
{{ config(severity='warn') }}

select
    org_id,
    activity_date,
    daily_active_users,
    weekly_active_users,
    monthly_active_users
from {{ ref('fct_org_day') }}
where
    daily_active_users > weekly_active_users
    or weekly_active_users > monthly_active_users
