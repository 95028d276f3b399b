with

spellings as (

    select * from {{ ref('map_tool_spelling') }}

),

calls as (

    select * from {{ ref('fct_tool_day') }}

),

spelled as (

    select
        tool_name,
        count(*) as spelling_count
    from spellings
    group by 1

),

used as (

    select
        tool_name,
        min(activity_date) as first_active_date,
        max(activity_date) as last_active_date
    from calls
    group by 1

),

names as (

    select tool_name from spelled

    union

    select tool_name from used

),

final as (

    select
        names.tool_name,
        names.tool_name = '(unparsed)' as is_unparsed,
        coalesce(spelled.spelling_count, 0) as spelling_count,
        used.first_active_date,
        used.last_active_date
    from names
    left join spelled
        on names.tool_name = spelled.tool_name
    left join used
        on names.tool_name = used.tool_name

)

select * from final
