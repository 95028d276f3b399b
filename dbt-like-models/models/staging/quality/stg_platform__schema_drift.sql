with

source as (

    select * from {{ source('platform', 'schema_drift') }}

),

renamed as (

    select
        org_id,
        resource,
        activity_date,
        path,
        kind
    from source
    where path is not null

)

select * from renamed
