with clients as (
    select
        'terminal-ui' as client,
        count(*) filter (n % 10 > 0) as users
    from user_day
    union all
    select 'web' as client, count(*) filter (n % 10 < 3) as users
    from user_day
)

select
    1 as page,
    row_number() over (order by client) - 1 as ordinal,
    to_json({
        date: {{ day }},
        group_key: client,
        daily_active_users: users
    }) as item
from clients
