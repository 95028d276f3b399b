with

source as (

    select * from {{ source('platform', 'intervals') }}

),

renamed as (

    select
        org_id,
        resource,
        activity_date,
        status,
        is_settled,
        fetched_at
    from source

)

select * from renamed
