with

source as (

    select * from {{ source('platform', 'tools_mcp_servers') }}

),

renamed as (

    select
        org_id,
        activity_date,
        coalesce(server, '') as spelling,
        coalesce(nullif(server_key, ''), '(unnamed)') as mcp_server,
        invocations,
        fetched_at
    from source

)

select * from renamed
