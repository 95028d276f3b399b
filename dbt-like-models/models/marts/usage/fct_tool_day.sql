with

parts as (

    select
        calls.org_id,
        calls.activity_date,
        spellings.tool_name,
        calls.invocations
    from {{ ref('int_tool_calls_coalesced') }} as calls
    inner join {{ ref('map_tool_spelling') }} as spellings
        using (org_id, spelling)

),

final as (

    {{ invocations_with_residuals('parts', 'tool_calls', ['tool_name']) }}

)

select * from final
