with

source as (

    select * from {{ source('platform', 'restatements') }}

),

renamed as (

    select
        org_id,
        resource,
        activity_date,
        entity_key,
        metric,
        old_value,
        new_value,
        old_fetched_at,
        new_fetched_at
    from source
    where metric is not null

)

select * from renamed
