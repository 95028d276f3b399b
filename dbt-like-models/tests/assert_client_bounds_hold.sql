-- Days on which the bounds of users with several clients are out of order: 0 <=
-- min <= max <= daily active users.
select
    org_id,
    activity_date,
    daily_active_users,
    multi_client_users_min,
    multi_client_users_max
from {{ ref('fct_client_overlap_day') }}
where
    multi_client_users_min < 0
    or multi_client_users_min > multi_client_users_max
    or multi_client_users_max > daily_active_users
    or (multi_client_users_min is null)
    != (multi_client_users_max is null)
