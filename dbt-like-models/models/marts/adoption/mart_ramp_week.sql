{% set metrics = ['active_days', 'tool_calls', 'billable_tokens'] %}

with

-- The seven days from each day: complete if all of them exist without a gap.
week_days as (

    select
        org_id,
        activity_date as week_first_date,
        sum(is_complete) over next_days = 7
        and max(activity_date) over next_days = activity_date + 6
            as is_complete_week
    from (
        {{ analytics_days() }}
    ) as days
    window
        next_days as (
            partition by org_id
            order by activity_date
            rows between current row and 6 following
        )

),

weeks as (

    {% for week_number in [1, 2, 3, 4] %}
    select
        org_id,
        user_id,
        cohort_week,
        {{ week_number }} as week_number,
        cast(first_active_date + {{ 7 * (week_number - 1) }} as date)
            as week_first_date
    from {{ ref('mart_ramp') }}
    where not is_left_edge
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

measured as (

    select
        org_id,
        weeks.cohort_week,
        user_id,
        week_number,
        week_first_date,
        coalesce(week_days.is_complete_week, false) as is_complete_week,
        {% for metric in metrics %}
        case
            when not coalesce(week_days.is_complete_week, false) then null
            when ramp.user_id is null then 0
            else ramp.{{ metric }}
        end as {{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from weeks
    left join week_days using (org_id, week_first_date)
    left join {{ ref('int_user_ramp_weeks') }} as ramp
        using (org_id, user_id, week_number)

),

final as (

    select
        *,
        count(case when is_complete_week then 1 end) over cohort
            as cohort_users,
        -- an average of doubles would depend on the order of the rows
        {% for metric in metrics %}
        cast(sum({{ metric }}) over cohort as double)
        / nullif(count({{ metric }}) over cohort, 0)
            as {{ metric }}_of_cohort_avg{{ ',' if not loop.last }}
        {% endfor %}
    from measured
    window cohort as (partition by org_id, cohort_week, week_number)

)

select * from final
