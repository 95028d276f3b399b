select
    org_id,
    cast(week_start_date as varchar) as week,
    autonomy_level as level,
    round(share, 4) as share
from main.mart_autonomy_level_week
inner join chosen using (org_id)
where week_start_date >= first_day and week_start_date + 6 <= data_through
order by org_id, week_start_date, autonomy_level
