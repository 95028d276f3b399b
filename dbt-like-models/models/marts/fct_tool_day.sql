with

days as (

    select * from {{ ref('stg_platform__tools_days') }}

),

calls as (

    select * from {{ ref('int_tool_calls_chosen') }}

),

spellings as (

    select * from {{ ref('map_tool_spelling') }}

),

parts as (

    select
        calls.org_id,
        calls.activity_date,
        spellings.tool_name,
        calls.invocations
    from calls
    inner join spellings
        on calls.spelling = spellings.spelling

),

totals as (

    select
        org_id,
        activity_date,
        sum(cast(invocations as decimal(38, 0))) as invocations
    from parts
    group by 1, 2

),

residuals as (

    select
        days.org_id,
        days.activity_date,
        '(unattributed)' as tool_name,
        {{ difference_of_counts(
            'days.tool_calls', 'coalesce(totals.invocations, 0)'
        ) }} as invocations
    from days
    left join totals
        on days.org_id = totals.org_id
        and days.activity_date = totals.activity_date

),

parts_and_residuals as (

    select
        org_id,
        activity_date,
        tool_name,
        invocations
    from parts

    union all

    select * from residuals
    where invocations > 0

),

final as (

    select
        org_id,
        activity_date,
        tool_name,
        {{ sum_of_counts('invocations') }} as invocations
    from parts_and_residuals
    group by 1, 2, 3

)

select * from final
