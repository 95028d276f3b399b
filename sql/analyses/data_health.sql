-- Can today's numbers be trusted?
-- One line per organisation: how far the data goes, and what is missing or has
-- changed.
select
    org_id,
    verdict,
    data_through,
    last_day,
    missing_days,
    failed_days,
    residual_checks_failed,
    restatements_28d,
    drift_findings,
    round(sessions_known_share, 4) as sessions_known_share
from main.mart_data_health
order by 1
