with

source as (

    select * from {{ source('platform', 'session_children') }}

),

renamed as (

    select
        org_id,
        activity_date,
        session_id,
        child_session_id,
        fetched_at
    from source

)

select * from renamed
