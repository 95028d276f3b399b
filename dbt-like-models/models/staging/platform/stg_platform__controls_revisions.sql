with

source as (

    select * from {{ source('platform', 'controls_revisions') }}

),

renamed as (

    select
        org_id,
        activity_date,
        revision,
        updated_at,
        actor_id,
        actor_email,
        actor_name,
        settings,
        fetched_at
    from source

)

select * from renamed
