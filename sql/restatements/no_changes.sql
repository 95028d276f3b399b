select
    cast(null as varchar) as org_id,
    cast(null as date) as activity_date,
    cast(null as varchar) as entity_key,
    cast(null as varchar) as metric,
    cast(null as varchar) as old_value,
    cast(null as varchar) as new_value,
    cast(null as timestamptz) as old_fetched_at,
    cast(null as timestamptz) as new_fetched_at
where false
