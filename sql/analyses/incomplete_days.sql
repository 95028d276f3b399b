-- Which days are not complete yet?
-- Days for which an analytics resource is still missing: leave them out of a
-- report. Days after the last one with any data are not listed; `data_health`
-- says how many are missing or failed. The result is empty if every day is
-- complete.
select
    org_id,
    activity_date,
    weekday_name
from main.dim_date
where not is_complete
order by 1, 2 desc
