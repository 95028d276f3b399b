-- A table, because it has few rows.
{{ config(materialized='table') }}

with

final as (

    {{ versions_of('week', 'int_user_day_versions') }}

)

select * from final
