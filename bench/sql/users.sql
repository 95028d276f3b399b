select
    n // 100 + 1 as page,
    n % 100 as ordinal,
    to_json({
        user_id: user_id,
        user_email: user_email,
        date: cast(activity_date as varchar),
        tool_calls: tool_calls,
        billable_tokens: billable_tokens,
        files_created: files_created,
        files_edited: files_edited,
        git_commits: git_commits,
        git_prs_created: git_prs_created,
        mcp_calls: mcp_calls,
        skill_calls: skill_calls,
        slash_commands: slash_commands,
        hooks: hooks,
        sessions: sessions,
        messages: user_messages + assistant_messages,
        user_messages: user_messages,
        assistant_messages: assistant_messages,
        primary_model: first_model,
        primary_model_tier: 'standard',
        autonomy_ratio: round(tool_calls / user_messages, 2),
        delegation_level: delegation_level,
        languages: languages
    }) as item
from user_day
order by n
