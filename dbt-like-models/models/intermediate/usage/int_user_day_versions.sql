-- A table: its few rows need a pass over all days.
{{ config(materialized='table') }}

select
    org_id,
    activity_date,
    day_digest
from {{ ref('stg_platform__users') }}
group by 1, 2, 3
