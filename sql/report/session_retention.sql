-- The last 20 periods of the setting, the newest first.
select
    org_id,
    retention_days as days_kept,
    cast(cast(valid_from as date) as varchar) as since,
    cast(cast(valid_to as date) as varchar) as until,
    fetched_sessions as fetched,
    oldest_session_days as oldest_days,
    sessions_past_retention as past,
    if(names_people, coalesce(actor_name, actor_email, actor_id), null) as changed_by
from main.mart_session_retention
inner join chosen using (org_id)
qualify row_number() over (partition by org_id order by since_revision desc) <= 20
order by org_id, since_revision desc
