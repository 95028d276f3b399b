{{ invocations_with_residuals(
    ref('stg_platform__tools_hooks'),
    'hooks_invocations',
    ['hook_event', 'matcher', 'command']
) }}
