with

source as (

    select * from {{ source('platform', 'controls_settings') }}

),

renamed as (

    select
        org_id,
        activity_date,
        revision,
        settings_path,
        value_json,
        is_redacted,
        fetched_at
    from source

)

select * from renamed
