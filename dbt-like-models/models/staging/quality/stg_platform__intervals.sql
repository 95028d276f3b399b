select
    org_id,
    resource,
    activity_date,
    status,
    -- a recheck of a day with a volume anomaly may confirm other rows
    is_settled and not is_suspect as is_settled,
    -- every run requests computers again: their time would rebuild models
    case when is_analytics then fetched_at end as fetched_at
from {{ source('platform', 'intervals') }}
-- only this tells dim_computer that an organisation had no computers
where is_analytics or resource = 'computers'
