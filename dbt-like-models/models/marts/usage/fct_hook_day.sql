with

parts as (

    select * from {{ ref('stg_platform__tools_hooks') }}

),

final as (

    {{ invocations_with_residuals(
        'parts', 'hooks_invocations', ['hook_event', 'matcher', 'command']
    ) }}

)

select * from final
