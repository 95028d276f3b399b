-- A table, because it has few rows.
{{ config(materialized='table') }}

{{ versions_of('month', 'int_user_day_versions') }}
