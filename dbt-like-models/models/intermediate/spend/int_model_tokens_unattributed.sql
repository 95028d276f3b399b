-- A table: its few rows need a pass over all parts.
{{ config(materialized='table') }}

with

days as (

    select * from {{ ref('stg_platform__tokens_days') }}

),

parts as (

    select
        org_id,
        activity_date,
        {{ sums_of_tokens() }},
        count(*) as part_count
    from {{ ref('int_model_tokens_coalesced') }}
    group by 1, 2

),

residuals as (

    {{ residual_tokens('days', 'parts', ['org_id', 'activity_date']) }}

),

final as (

    select
        org_id,
        activity_date,
        '(unattributed)' as model_id,
        cast(null as string) as model_tier,
        billable_tokens,
        input_tokens,
        output_tokens
    from residuals

)

select * from final
