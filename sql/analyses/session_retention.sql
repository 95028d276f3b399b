-- Are sessions removed when the settings say so?
-- By period of the setting: sessions that the platform still served although
-- their last update was longer ago than the retention. Only sessions whose id
-- is known are requested, so there may be more. The result is empty if no
-- settings are known.
select
    org_id,
    valid_from,
    valid_to,
    retention_days,
    fetched_sessions,
    oldest_session_days,
    sessions_past_retention,
    coalesce(actor_email, actor_name, actor_id) as actor
from main.mart_session_retention
order by 1, 2 desc
