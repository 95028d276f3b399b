with

source as (

    select * from {{ source('platform', 'usage_limits_days') }}

),

renamed as (

    select
        org_id,
        activity_date,
        global_limit,
        fetched_at
    from source

)

select * from renamed
