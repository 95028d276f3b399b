with

source as (

    select * from {{ source('platform', 'usage_limits_users') }}

),

renamed as (

    select
        org_id,
        activity_date,
        user_email,
        credit_limit,
        fetched_at
    from source

)

select * from renamed
