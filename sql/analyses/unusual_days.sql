-- Which days and users consumed far more or less than usual?
-- The last 28 days, compared with the same weekdays of the eight weeks before:
-- what lies between their least and most credits is usual. Users are also
-- compared with the other users of the day. A line without a user is the whole
-- organisation. A flag is a reason to ask, not a finding. The result is empty
-- if nothing is unusual.
select
    org_id,
    mart_anomalies.activity_date,
    mart_anomalies.scope,
    dim_user.user_label,
    mart_anomalies.value as credits,
    mart_anomalies.usual_low as usual_credits_from,
    mart_anomalies.usual_high as usual_credits_to,
    round(mart_anomalies.score, 1) as score
from main.mart_anomalies
left join main.dim_user using (org_id, user_id)
order by 1, 2 desc, 3, 7 desc, 4
