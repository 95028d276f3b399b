-- Days whose tools and residual do not reach the API's total: with a residual
-- row this cannot be. A tool whose calls are not known may be what is missing.
with

days as (

    select * from {{ ref('fct_org_day') }}

),

tools as (

    select
        org_id,
        activity_date,
        sum(invocations) as invocations,
        count(*) - count(invocations) as unknown_rows
    from {{ ref('fct_tool_day') }}
    group by 1, 2

),

final as (

    select
        days.org_id,
        days.activity_date,
        days.tool_calls as expected,
        tools.invocations as actual
    from days
    left join tools
        on days.org_id = tools.org_id
        and days.activity_date = tools.activity_date
    where
        days.tool_calls > coalesce(tools.invocations, 0)
        and coalesce(tools.unknown_rows, 0) = 0

)

select * from final
