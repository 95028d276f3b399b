-- Seats and prices below zero.
select
    org_id,
    valid_from,
    team,
    seats,
    monthly_price
from {{ ref('licences') }}
where seats < 0 or monthly_price < 0
