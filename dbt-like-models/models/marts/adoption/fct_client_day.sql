select
    org_id,
    activity_date,
    client,
    max(daily_active_users) as daily_active_users
from (
    {{ nested_or_grouped(
        'stg_platform__activity_clients',
        'stg_platform__activity_by_client',
        ['client', 'daily_active_users']
    ) }}
) as clients
group by 1, 2, 3
