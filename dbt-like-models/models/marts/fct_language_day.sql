with

languages as (

    select * from {{ ref('stg_platform__productivity_languages') }}

),

final as (

    select
        org_id,
        activity_date,
        language,
        cast(sum(file_operations) as bigint) as file_operations
    from languages
    group by 1, 2, 3

)

select * from final
