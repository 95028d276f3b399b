-- Where the seed has no line of an organisation, who has a seat is not known.
select
    org_id,
    status,
    count(*) as people
from main.mart_seats
inner join chosen using (org_id)
where is_licensed is not null
group by 1, 2
order by 1, 2
