-- The rows of some days of one resource; a day without rows gets one row, which
-- records that it was processed.
select
    {{ org_id }} as org_id,
    {{ resource }} as resource,
    days.activity_date,
    found.* exclude (activity_date)
from (
    select unnest(cast({{ days }} as date[])) as activity_date
) as days
left join (
{{ select }}
) as found on found.activity_date = days.activity_date
order by all
