-- The rows of some days of one resource; a day without rows gets one row, which
-- records that it was processed.
select
    days.org_id,
    {{ resource }} as resource,
    days.activity_date,
    found.* exclude (org_id, activity_date)
from (
    select
        unnest(cast({{ org_ids }} as varchar[])) as org_id,
        unnest(cast({{ days }} as date[])) as activity_date
) as days
left join (
{{ select }}
) as found
    on found.org_id = days.org_id
    and found.activity_date = days.activity_date
order by all
