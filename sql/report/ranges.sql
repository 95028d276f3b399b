-- The lengths of period that the page offers, in days, as a JSON list in $ranges.
create temp table ranges as
select unnest(cast(cast($ranges as json) as integer[])) as days
