with

spellings as (

    select
        org_id,
        mcp_server,
        spelling,
        {{ sum_of_counts('invocations') }} as invocations,
        min(activity_date) as first_active_date,
        max(activity_date) as last_active_date
    from {{ ref('stg_platform__tools_mcp_servers') }}
    group by 1, 2, 3

),

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, mcp_server
            order by invocations desc nulls last, spelling asc nulls last
        ) as usage_rank
    from spellings

),

final as (

    select
        org_id,
        mcp_server,
        max(
            case
                when mcp_server = '(unnamed)' then mcp_server
                when usage_rank = 1 then spelling
            end
        ) as display_name,
        count(*) as spelling_count,
        min(first_active_date) as first_active_date,
        max(last_active_date) as last_active_date
    from ranked
    group by 1, 2

)

select * from final
