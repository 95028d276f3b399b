select
    cast(null as varchar) as object,
    cast(null as varchar) as org_id,
    cast(null as date) as activity_date,
    cast(null as bigint) as place,
    cast(null as varchar) as key,
    cast(null as varchar) as text,
    cast(null as varchar) as type,
    cast(null as bigint) as length
where false
