with

nested as (

    select * from {{ ref('stg_platform__tools_tools') }}

),

grouped as (

    select * from {{ ref('stg_platform__tools_by_name') }}

),

spellings as (

    select
        spelling,
        tool_key,
        is_clean_name
    from nested

    union

    select
        spelling,
        tool_key,
        is_clean_name
    from grouped

),

clean_names as (

    select tool_key as tool_name
    from spellings
    where is_clean_name
    group by 1

),

final as (

    select
        spellings.spelling,
        coalesce(clean_names.tool_name, '(unparsed)') as tool_name
    from spellings
    left join clean_names
        on spellings.tool_key = clean_names.tool_name

)

select * from final
