select
    1 as page,
    0 as ordinal,
    to_json({
        date: {{ day }},
        daily_active_users: count(*),
        weekly_active_users: count(*),
        monthly_active_users: count(*),
        daily_active_users_by_client: {
            'terminal-ui': count(*) filter (n % 10 > 0),
            'web': count(*) filter (n % 10 < 3)
        },
        sessions: cast(sum(sessions) as bigint),
        messages: cast(sum(user_messages + assistant_messages) as bigint),
        user_messages: cast(sum(user_messages) as bigint)
    }) as item
from user_day
