with

source as (

    select * from {{ source('platform', 'tools_skills') }}

),

renamed as (

    select
        org_id,
        activity_date,
        coalesce(name, '(unnamed)') as skill_name,
        count_value as invocations,
        fetched_at
    from source

)

select * from renamed
