select
    org_id,
    resource,
    activity_date,
    path,
    kind
from {{ source('platform', 'schema_drift') }}
where path is not null
