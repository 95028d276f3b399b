select
    org_id,
    resource,
    cast(date_trunc('month', activity_date) as date) as month_start_date,
    count(*) as known_days,
    cast(
        extract(day from last_day(min(activity_date))) as bigint
    ) as days_in_month
from {{ ref('stg_platform__intervals') }}
where status in ('landed', 'empty')
group by 1, 2, 3
