select count(*) as rows
from {{ published }}
semi join verify.intervals using (org_id, activity_date)
where activity_date in ({{ days }})
