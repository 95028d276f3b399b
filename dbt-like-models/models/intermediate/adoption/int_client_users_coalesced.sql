{{ nested_or_grouped(
    'stg_platform__activity_clients',
    'stg_platform__activity_by_client',
    ['client', 'daily_active_users']
) }}
