-- A table, because it has few rows.
{{ config(materialized='table') }}

{{ versions_of('week', 'int_user_day_versions') }}
