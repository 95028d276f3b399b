-- Keys that several items of a day share. Keys are compared before items, which
-- are far wider and hardly ever repeated.
create or replace temp table repeated_keys as
select
    org_id,
    activity_date,
    row_key
from parsed
where row_key is not null
group by 1, 2, 3
having count(*) > 1
