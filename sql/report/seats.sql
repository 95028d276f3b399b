select
    org_id,
    status,
    count(*) as people
from main.mart_seats
inner join chosen using (org_id)
group by 1, 2
order by 1, 2
