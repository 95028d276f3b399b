-- A table: what asks for the users of weeks would pass over every day.
{{ config(materialized='table') }}

with

final as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        user_id,
        count(*) as active_days,
        max(case when mcp_calls > 0 then 1 else 0 end) = 1 as is_mcp_user
    from {{ ref('fct_user_day') }}
    where is_active and user_id not like '(%'
    group by 1, 2, 3

)

select * from final
