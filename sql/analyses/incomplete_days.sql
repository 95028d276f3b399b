-- Which days are not complete yet?
-- Days of which a resource of analytics is still missing: leave them out of a
-- report.
-- Empty where every day is complete.
select
    org_id,
    activity_date,
    weekday_name
from main.dim_date
where not is_complete
order by 1, 2 desc
