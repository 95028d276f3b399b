-- The number of settings that are known. Without one, nothing is known of what
-- they allow.
select
    org_id,
    count(*) as settings
from main.dim_control_current
inner join chosen using (org_id)
group by 1
order by 1
