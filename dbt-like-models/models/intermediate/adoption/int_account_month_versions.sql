-- A table, because it has few rows.
{{ config(materialized='table') }}

{{ versions_of('month', 'stg_platform__tokens_days') }}
