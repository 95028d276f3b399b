-- A table: few rows.
{{ config(materialized='table') }}

with

final as (

    {{ month_versions('int_user_day_versions') }}

)

select * from final
