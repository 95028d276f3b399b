with

source as (

    select * from {{ source('platform', 'controls_policies') }}

),

renamed as (

    select
        org_id,
        activity_date,
        revision,
        setting,
        value,
        value_key,
        fetched_at
    from source

)

select * from renamed
