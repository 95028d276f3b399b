-- A table: few rows, which take a pass over all parts to find.
{{ config(materialized='table') }}

with

totals as (

    select * from {{ ref('stg_platform__tokens_users') }}

),

parts as (

    select * from {{ ref('stg_platform__tokens_user_models') }}

),

user_parts as (

    select
        org_id,
        activity_date,
        user_id,
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(output_tokens) as bigint) as output_tokens,
        count(*) as part_count
    from parts
    group by 1, 2, 3

),

differences as (

    select
        totals.org_id,
        totals.activity_date,
        totals.user_id,
        totals.billable_tokens
        - coalesce(user_parts.billable_tokens, 0) as billable_tokens,
        case
            when
                user_parts.part_count is null
                or user_parts.input_tokens is not null
            then
                totals.input_tokens
                - coalesce(user_parts.input_tokens, 0)
        end as input_tokens,
        case
            when
                user_parts.part_count is null
                or user_parts.output_tokens is not null
            then
                totals.output_tokens
                - coalesce(user_parts.output_tokens, 0)
        end as output_tokens
    from totals
    left join user_parts
        on totals.org_id = user_parts.org_id
        and totals.activity_date = user_parts.activity_date
        and totals.user_id = user_parts.user_id

),

final as (

    select
        org_id,
        activity_date,
        user_id,
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
