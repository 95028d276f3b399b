-- The checks that found nothing wrong in the published file.
select
    check_name,
    query
from meta.check_results
where status = 'pass' and failures = 0
