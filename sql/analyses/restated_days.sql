-- Which past days did the platform change afterwards?
-- Values that changed by the day they are of, the latest change first;
-- `fct_restatement` has each with its old and its new value.
-- Empty where nothing changed.
select
    org_id,
    activity_date,
    resource,
    count(*) as changed_values,
    max(new_fetched_at) as last_changed_at
from main.fct_restatement
group by 1, 2, 3
order by 1, 5 desc, 2 desc, 3
