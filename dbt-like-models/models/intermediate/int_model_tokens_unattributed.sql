-- A table: few rows, which take a pass over all parts to find.
{{ config(materialized='table') }}

with

days as (

    select * from {{ ref('stg_platform__tokens_days') }}

),

parts as (

    select * from {{ ref('int_model_tokens_chosen') }}

),

both_sides as (

    select
        org_id,
        activity_date,
        billable_tokens as total_billable,
        input_tokens as total_input,
        output_tokens as total_output,
        cast(null as decimal(38, 6)) as part_billable,
        cast(null as bigint) as part_input,
        cast(null as bigint) as part_output,
        0 as part_count
    from days

    union all

    select
        org_id,
        activity_date,
        cast(null as decimal(38, 6)) as total_billable,
        cast(null as bigint) as total_input,
        cast(null as bigint) as total_output,
        billable_tokens as part_billable,
        input_tokens as part_input,
        output_tokens as part_output,
        1 as part_count
    from parts

),

balanced as (

    select
        org_id,
        activity_date,
        {{ sum_of_credits('total_billable') }} as total_billable,
        {{ sum_of_counts('total_input') }} as total_input,
        {{ sum_of_counts('total_output') }} as total_output,
        {{ sum_of_credits('part_billable') }} as part_billable,
        {{ sum_of_counts('part_input') }} as part_input,
        {{ sum_of_counts('part_output') }} as part_output,
        sum(part_count) as part_count
    from both_sides
    group by 1, 2

),

differences as (

    select
        org_id,
        activity_date,
        {{ difference_of_credits(
            'total_billable', 'coalesce(part_billable, 0)'
        ) }} as billable_tokens,
        case
            when part_count = 0 or part_input is not null
            then {{ difference_of_counts(
                'total_input', 'coalesce(part_input, 0)'
            ) }}
        end as input_tokens,
        case
            when part_count = 0 or part_output is not null
            then {{ difference_of_counts(
                'total_output', 'coalesce(part_output, 0)'
            ) }}
        end as output_tokens
    from balanced

),

final as (

    select
        org_id,
        activity_date,
        '(unattributed)' as model_id,
        cast(null as string) as model_tier,
        case
            when billable_tokens < 0 then 0 else billable_tokens
        end as billable_tokens,
        case
            when input_tokens < 0 then 0 else input_tokens
        end as input_tokens,
        case
            when output_tokens < 0 then 0 else output_tokens
        end as output_tokens
    from differences
    where billable_tokens > 0 or input_tokens > 0 or output_tokens > 0

)

select * from final
