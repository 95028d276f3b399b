with

days as (

    select * from {{ ref('stg_platform__tools_days') }}

),

parts as (

    select * from {{ ref('stg_platform__tools_slash_commands') }}

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
        '(unattributed)' as command_name,
        {{ difference_of_counts(
            'days.slash_commands_invocations', 'coalesce(totals.invocations, 0)'
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
        command_name,
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
        command_name,
        {{ sum_of_counts('invocations') }} as invocations
    from parts_and_residuals
    group by 1, 2, 3

)

select * from final
