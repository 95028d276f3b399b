-- What the check found, in words.
select
    org_id || ': ' || column_name || ' of ' || table_name || ' is '
    || cast(largest as varchar) || ' on ' || cast(activity_date as varchar)
    || '; a sum with it that does not fit is NULL' as message
from audit.assert_counts_can_be_summed
order by all
limit 10
