with

parts as (

    select * from {{ ref('stg_platform__tools_skills') }}

),

final as (

    {{ invocations_with_residuals(
        'parts', 'skills_invocations', ['skill_name']
    ) }}

)

select * from final
