-- The number of rows of each version, and a digest of all their columns.
select
    filename,
    count(*) || ' ' || sum(hash(
        item,
        ordinal,
        page,
        fetched_at,
        request,
        request_id,
        run_id
    )) as contents
from {{ rows }}
group by 1
