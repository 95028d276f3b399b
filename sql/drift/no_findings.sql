select
    cast(null as varchar) as org_id,
    cast(null as date) as activity_date,
    cast(null as varchar) as path,
    cast(null as varchar) as kind,
    cast(null as varchar) as expected,
    cast(null as varchar) as served_type,
    cast(null as bigint) as served_length,
    cast(null as bigint) as occurrences,
    cast(null as varchar) as request_id
where false
