-- The items that may not be as documented, and of those of one shape and day the
-- first, which stands for all. An item of shape 0 is as documented.
create or replace temp table strange as
select
    activity_date,
    alike,
    min(place) as place,
    count(*) as stands_for,
    max(bytes) as bytes
from (
    select
        activity_date,
        place,
        alike,
        strlen(item) as bytes
    from (
{{ items }}
    ) as items
) as read_back
group by activity_date, alike, case when alike is null then place end
