-- A table: its few rows need a pass over all changes.
{{ config(materialized='table') }}

select
    org_id,
    resource,
    activity_date,
    old_fetched_at,
    new_fetched_at
from {{ ref('stg_platform__restatements') }}
group by 1, 2, 3, 4, 5
