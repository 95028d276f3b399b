-- The weeks of which every day has landed.
create temp table whole_weeks as
select
    org_id,
    week_start_date
from main.mart_output_week
inner join chosen using (org_id)
where is_complete_week
