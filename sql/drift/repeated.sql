-- Rows of one key and day that differ in what base reads of them: the last one
-- stands, and the others are left out. Rows that are the same have lost nothing.
create or replace temp table repeated as
with

served as (

{{ items }}

),

differing as (

    select
        activity_date,
        count(distinct item) - 1 as occurrences,
        max(place) as place
    from served
    where row_key is not null
    group by activity_date, row_key
    having count(distinct item) > 1

)

select
    differing.activity_date,
    {{ path }} as path,
    'repeated' as kind,
    'string' as expected,
    'string' as served_type,
    cast(null as bigint) as served_length,
    cast(sum(differing.occurrences) as bigint) as occurrences,
    min(raw.request_id) as request_id
from differing
left join raw
    on raw.activity_date = differing.activity_date
    and raw.page = differing.place.page
    and raw.ordinal = differing.place.ordinal
group by 1
