-- A table, because it has few rows.
{{ config(materialized='table') }}

with

final as (

    {{ versions_of('month', 'stg_platform__tokens_days') }}

)

select * from final
