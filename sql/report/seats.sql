-- If the seed has no line for an organisation, it is not known who has a seat.
select
    org_id,
    status,
    count(*) as people
from main.mart_seats
inner join chosen using (org_id)
where is_licensed is not null
group by 1, 2
order by 1, 2
