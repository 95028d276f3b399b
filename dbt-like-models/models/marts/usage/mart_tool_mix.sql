with

tool_months as (

    select
        org_id,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        tool_name,
        {{ sum_of_counts('invocations') }} as invocations
    from {{ ref('fct_tool_day') }}
    group by 1, 2, 3

),

known_months as (

    select * from {{ ref('int_resource_months') }}
    where resource = 'tools'

),

final as (

    select
        org_id,
        month_start_date,
        tool_months.tool_name,
        tool_months.invocations,
        cast(tool_months.invocations as double) / nullif(
            cast(
                sum(cast(tool_months.invocations as decimal(38, 0))) over (
                    partition by org_id, month_start_date
                ) as double
            ),
            0
        ) as share,
        known_months.known_days,
        known_months.days_in_month
    from tool_months
    left join known_months using (org_id, month_start_date)

)

select * from final
