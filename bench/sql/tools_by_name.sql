with calls as (
    select 'Read' as tool, sum(reads) as calls from user_day
    union all
    select 'Edit' as tool, sum(edits) as calls from user_day
    union all
    select 'Execute' as tool, sum(executions) as calls from user_day
    union all
    select 'github___search_code' as tool, sum(mcp_calls) as calls from user_day
)

select
    1 as page,
    row_number() over (order by tool) - 1 as ordinal,
    to_json({
        date: {{ day }},
        group_key: tool,
        tool_calls: cast(calls as bigint)
    }) as item
from calls
