select
    org_id,
    resource,
    cast(activity_date as varchar) as activity_date,
    status
from meta.intervals
where status in ('landed', 'empty')
