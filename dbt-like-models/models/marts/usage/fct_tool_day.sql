with

parts as (

    select
        calls.org_id,
        calls.activity_date,
        spellings.tool_name,
        calls.invocations
    from (
        {{ nested_or_grouped(
            'stg_platform__tools_tools',
            'stg_platform__tools_by_name',
            ['spelling', 'invocations']
        ) }}
    ) as calls
    inner join {{ ref('map_tool_spelling') }} as spellings
        using (org_id, spelling)

),

final as (

    {{ invocations_with_residuals('parts', 'tool_calls', ['tool_name']) }}

)

select * from final
