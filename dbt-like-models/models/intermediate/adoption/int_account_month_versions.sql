-- A table: few rows.
{{ config(materialized='table') }}

with

final as (

    {{ month_versions('stg_platform__tokens_days') }}

)

select * from final
