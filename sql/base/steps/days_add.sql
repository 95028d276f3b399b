-- The rows of the days; a day that has none is one row that says it was done.
insert into base_rows by name
with

found as (

{{ select }}

)

select
    {{ org_id }} as org_id,
    {{ resource }} as resource,
    base_days.activity_date,
    base_days.made_from,
    found.* exclude (activity_date)
from base_days
left join found on found.activity_date = base_days.activity_date
