select
    org_id,
    activity_date,
    client,
    max(daily_active_users) as daily_active_users
from {{ ref('int_client_users_coalesced') }}
group by 1, 2, 3
