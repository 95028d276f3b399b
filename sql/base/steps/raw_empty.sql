create or replace temp table raw as
select
    cast(null as varchar) as org_id,
    cast(null as date) as activity_date,
    cast(null as varchar) as day_digest,
    cast(null as varchar) as item,
    cast(null as bigint) as ordinal,
    cast(null as bigint) as page,
    cast(null as timestamptz) as fetched_at,
    cast(null as varchar) as request,
    cast(null as varchar) as request_id
where false
