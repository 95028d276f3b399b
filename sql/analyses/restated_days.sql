-- Which past days did the platform change afterwards?
-- The number of changed values by day, latest change first. `fct_restatement`
-- has each with its old and new value. The result is empty if nothing changed.
select
    org_id,
    activity_date,
    resource,
    count(*) as changed_values,
    max(new_fetched_at) as last_changed_at
from main.fct_restatement
group by 1, 2, 3
order by 1, 5 desc, 2 desc, 3
