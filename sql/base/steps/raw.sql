-- Reads the versions in the files. Names of versions are unique, so a digest of
-- the name identifies the version. It has as many characters as DuckDB stores
-- without another allocation.
create or replace temp table raw as
select
    {{ org_id }} as org_id,
    cast(
        regexp_extract(filename, 'date=(\d{4}-\d{2}-\d{2})[/\\][^/\\]*$', 1)
        as date
    ) as activity_date,
    left(md5(regexp_extract(filename, '[^/\\]*$')), 12) as day_digest,
    item,
    ordinal,
    page,
    fetched_at,
    request,
    request_id
from {{ rows }}
