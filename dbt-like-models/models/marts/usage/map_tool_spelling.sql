with

spellings as (

    select * from {{ ref('int_tool_spellings_cleaned') }}

),

final as (

    select
        spelling,
        tool_name
    from spellings

)

select * from final
