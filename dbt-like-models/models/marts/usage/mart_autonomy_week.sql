with

user_days as (

    select
        org_id,
        {{ week_of('activity_date') }} as week_start_date,
        tool_calls,
        user_messages,
        case
            when user_id not like '(%'
            then cast(tool_calls as double) / nullif(user_messages, 0)
        end as user_day_ratio
    from {{ ref('fct_user_day') }}

),

summed as (

    select
        org_id,
        week_start_date,
        {{ sum_of_counts('tool_calls') }} as tool_calls,
        {{ sum_of_counts('user_messages') }} as user_messages,
        count(user_day_ratio) as user_days,
        percentile_cont(0.5) within group (
            order by user_day_ratio
        ) as autonomy_ratio_p50,
        percentile_cont(0.9) within group (
            order by user_day_ratio
        ) as autonomy_ratio_p90
    from user_days
    group by 1, 2

),

final as (

    select
        org_id,
        week_start_date,
        coalesce(weeks.is_complete_week, false) as is_complete_week,
        summed.tool_calls,
        summed.user_messages,
        cast(summed.tool_calls as double)
        / nullif(summed.user_messages, 0) as autonomy_ratio,
        summed.user_days,
        summed.autonomy_ratio_p50,
        summed.autonomy_ratio_p90
    from summed
    left join {{ ref('int_org_weeks') }} as weeks
        using (org_id, week_start_date)

)

select * from final
