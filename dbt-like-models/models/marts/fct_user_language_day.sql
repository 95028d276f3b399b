with

languages as (

    select * from {{ ref('stg_platform__user_languages') }}

),

identified as (

    select
        org_id,
        activity_date,
        user_id,
        language
    from languages
    where user_id != '(unattributed)'

),

unidentified as (

    select
        org_id,
        activity_date,
        user_id,
        language
    from languages
    where user_id = '(unattributed)'
    group by 1, 2, 3, 4

),

final as (

    select * from identified

    union all

    select * from unidentified

)

select * from final
