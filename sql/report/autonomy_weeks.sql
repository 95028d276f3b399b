select
    org_id,
    cast(week_start_date as varchar) as week,
    round(autonomy_ratio, 3) as ratio,
    round(autonomy_ratio_p50, 3) as p50,
    round(autonomy_ratio_p90, 3) as p90
from main.mart_autonomy_week
inner join chosen using (org_id)
where is_complete_week
order by org_id, week_start_date
