{{ invocations_with_residuals(
    ref('stg_platform__tools_slash_commands'),
    'slash_commands_invocations',
    ['command_name']
) }}
