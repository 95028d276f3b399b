with

level_days as (

    select
        org_id,
        activity_date,
        levels.autonomy_level,
        levels.share,
        days.tool_calls
    from {{ ref('fct_autonomy_level_day') }} as levels
    inner join {{ ref('fct_org_day') }} as days using (org_id, activity_date)
    where levels.share is not null and days.tool_calls is not null

),

known_days as (

    select
        org_id,
        activity_date,
        tool_calls
    from level_days
    group by 1, 2, 3

),

-- A level that a day does not list has none of its calls.
totals as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        {{ sum_of_counts('tool_calls') }} as all_tool_calls,
        count(*) as known_days
    from known_days
    group by 1, 2

),

-- Decimals, because a sum of doubles would depend on the order of the rows.
weighed_days as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        autonomy_level,
        try_cast(
            share * cast(tool_calls as double) as decimal(28, 6)
        ) as tool_calls
    from level_days

),

levels as (

    select
        org_id,
        week_start_date,
        autonomy_level,
        case
            when count(*) = count(tool_calls)
            then cast({{ sum_of_credits('tool_calls') }} as double)
        end as tool_calls
    from weighed_days
    group by 1, 2, 3

),

final as (

    select
        org_id,
        week_start_date,
        coalesce(weeks.is_complete_week, false) as is_complete_week,
        levels.autonomy_level,
        levels.tool_calls,
        totals.all_tool_calls,
        levels.tool_calls / nullif(totals.all_tool_calls, 0) as share,
        totals.known_days
    from levels
    inner join totals using (org_id, week_start_date)
    left join {{ ref('int_org_weeks') }} as weeks
        using (org_id, week_start_date)

)

select * from final
