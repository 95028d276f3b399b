with

parts as (

    select * from {{ ref('stg_platform__tools_slash_commands') }}

),

final as (

    {{ invocations_with_residuals(
        'parts', 'slash_commands_invocations', ['command_name']
    ) }}

)

select * from final
