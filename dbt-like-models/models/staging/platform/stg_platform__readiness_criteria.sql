with

source as (

    select * from {{ source('platform', 'readiness_criteria') }}

),

renamed as (

    select
        org_id,
        activity_date,
        report_id,
        criterion_id,
        numerator,
        denominator,
        rationale,
        fetched_at
    from source

)

select * from renamed
