with

spelled as (

    select
        org_id,
        tool_name,
        count(*) as spelling_count
    from {{ ref('map_tool_spelling') }}
    group by 1, 2

),

used as (

    select
        org_id,
        tool_name,
        min(activity_date) as first_active_date,
        max(activity_date) as last_active_date
    from {{ ref('fct_tool_day') }}
    group by 1, 2

),

final as (

    select
        org_id,
        tool_name,
        tool_name = '(unparsed)' as is_unparsed,
        coalesce(spelled.spelling_count, 0) as spelling_count,
        used.first_active_date,
        used.last_active_date
    from spelled
    full outer join used using (org_id, tool_name)

)

select * from final
