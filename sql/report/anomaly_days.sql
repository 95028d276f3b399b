-- Flags by day, of the organisation and of users, in the last 28 days: the mart
-- ends at the last day with use. Users are neither named nor counted here.
select
    org_id,
    cast(activity_date as varchar) as day,
    scope,
    score > 0 as is_above,
    count(*) as flags,
    cast(max(value) filter (scope = 'org') as double) as billable_tokens,
    cast(max(usual_low) filter (scope = 'org') as double) as usual_low,
    cast(max(usual_high) filter (scope = 'org') as double) as usual_high
from main.mart_anomalies
inner join chosen using (org_id)
where activity_date > last_day - 28
group by 1, 2, 3, 4
order by all
