-- One row per org, day and user of `users`, plus every row that names no user.
-- `steps/parsed.sql` makes `parsed`, with the fields in `src/lake/resources.ts`.
select
    org_id,
    activity_date,
    named(item.user_id) as user_id,
    nullif(item.user_email, '') as user_email,
    to_count(item.tool_calls) as tool_calls,
    to_credits(item.billable_tokens) as billable_tokens,
    to_count(item.files_created) as files_created,
    to_count(item.files_edited) as files_edited,
    to_count(item.git_commits) as git_commits,
    to_count(item.git_prs_created) as git_prs_created,
    to_count(item.mcp_calls) as mcp_calls,
    to_count(item.skill_calls) as skill_calls,
    to_count(item.slash_commands) as slash_commands,
    to_count(item.hooks) as hooks,
    to_count(item.sessions) as sessions,
    to_count(item.messages) as messages,
    to_count(item.user_messages) as user_messages,
    to_count(item.assistant_messages) as assistant_messages,
    item.primary_model,
    item.primary_model_tier,
    to_ratio(item.autonomy_ratio) as autonomy_ratio,
    item.delegation_level,
    day_digest,
    fetched_at
from parsed
