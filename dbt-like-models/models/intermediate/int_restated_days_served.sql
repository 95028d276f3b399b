-- A table: few rows, which take a pass over all changes to find.
{{ config(materialized='table') }}

with

restatements as (

    select * from {{ ref('stg_platform__restatements') }}

),

final as (

    select
        org_id,
        resource,
        activity_date,
        day_digest
    from restatements
    group by 1, 2, 3, 4

)

select * from final
