-- Filled by the pre-hooks of the facts: see macros/incremental.sql. A build creates
-- or reuses it, and never updates it itself: see `toBeWritten` in build-plan.ts.
{{
    config(
        materialized='incremental',
        unique_key=['fact_name', 'org_id', 'activity_date']
    )
}}

select
    cast(null as string) as fact_name,
    cast(null as string) as org_id,
    cast(null as date) as activity_date,
    cast(null as string) as day_digest
where 1 = 0
