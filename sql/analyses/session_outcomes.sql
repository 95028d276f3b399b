-- How do sessions end?
-- By reason. The platform does not list sessions, so only known sessions are
-- counted; the last column has their share of all sessions. The result is empty
-- if no session is known.
select
    org_id,
    mart_session_outcomes.end_reason,
    mart_session_outcomes.is_failure,
    cast(sum(mart_session_outcomes.sessions) as bigint) as sessions,
    round(
        max(mart_data_health.sessions_known_share), 4
    ) as sessions_known_share
from main.mart_session_outcomes
inner join main.mart_data_health using (org_id)
group by 1, 2, 3
order by 1, 4 desc, 2, 3
