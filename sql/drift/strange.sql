-- The items that may be otherwise than documented, and of those of one shape and
-- day the first, which stands for all.
create or replace temp table strange as
select
    activity_date,
    alike,
    min(item_place) as place,
    count(*) as stands_for,
    max(strlen(served)) as bytes
from parsed
where alike is distinct from 0
group by activity_date, alike, case when alike is null then item_place end
