-- What do the seats cost, month by month?
-- By team and currency, from `seeds/licences.csv`; `(organisation)` is a line
-- without a team. The first and the last month contain only the days of the
-- history. The result is empty if there is no such file.
select
    org_id,
    dim_date.month_start_date,
    fct_licence_day.team,
    fct_licence_day.currency,
    count(*) as days,
    max_by(fct_licence_day.seats, activity_date) as seats_on_last_day,
    round(sum(fct_licence_day.day_price), 2) as price
from main.fct_licence_day
inner join main.dim_date using (org_id, activity_date)
group by 1, 2, 3, 4
order by 1, 2 desc, 3, 4
