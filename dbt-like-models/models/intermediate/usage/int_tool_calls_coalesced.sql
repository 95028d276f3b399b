{{ nested_or_grouped(
    'stg_platform__tools_tools',
    'stg_platform__tools_by_name',
    ['spelling', 'invocations']
) }}
