-- Rows that occur more often on one side: in the warehouse if `surplus` is
-- positive, on the platform if it is negative.
create or replace temp table residuals as
with

days as (

    select
        org_id,
        activity_date
    from verify.intervals
    group by 1, 2

),

both_sides as (

    select
        {{ columns }},
        1 as side
    from {{ published }}
    semi join days using (org_id, activity_date)
    where activity_date in ({{ days }})

    union all

    select
        {{ columns }},
        -1 as side
    from {{ relation }}
    semi join days using (org_id, activity_date)
    where activity_date in ({{ days }})

)

select
    {{ columns }},
    sum(side) as surplus
from both_sides
group by all
having sum(side) != 0
