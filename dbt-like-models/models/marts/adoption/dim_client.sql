select
    org_id,
    client,
    case client
        when 'terminal-ui' then 'Interactive CLI'
        when 'web' then 'Web application'
        when 'non-interactive-cli' then 'Headless or automated CLI'
    end as description,
    min(activity_date) as first_active_date,
    max(activity_date) as last_active_date
from {{ ref('fct_client_day') }}
group by 1, 2, 3
