{{ invocations_with_residuals(
    ref('stg_platform__tools_skills'), 'skills_invocations', ['skill_name']
) }}
