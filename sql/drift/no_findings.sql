select
    cast(null as date) as activity_date,
    cast(null as varchar) as path,
    cast(null as varchar) as kind,
    cast(null as varchar) as expected,
    cast(null as varchar) as example,
    cast(null as varchar) as request_id
where false
