import {
  ACTIVITY,
  ACTIVITY_BY_CLIENT,
  PRODUCTIVITY,
  TOKENS,
  TOKENS_BY_MODEL,
  TOOLS,
  TOOLS_BY_NAME,
  USER,
} from './samples.ts'
import type { Section } from './section.ts'

/** Rows of the analytics endpoints. */
export const ANALYTICS: readonly Section[] = [
  {
    heading: '`/tokens` day row',
    name: 'tokens',
    type: 'TokensDay',
    resource: 'tokens',
    sample: TOKENS,
    rows: `
      date | date | fct_org_day.activity_date
      billable_tokens | number | fct_org_day.billable_tokens
      input_tokens | number | fct_org_day.input_tokens
      output_tokens | number | fct_org_day.output_tokens
      cache_read_tokens | number | fct_org_day.cache_read_tokens
      cache_write_tokens | number, optional | fct_org_day.cache_write_tokens
      by_model | array of object | fct_model_day#rows
      by_user | array of object | stg_platform__tokens_users#rows
      by_model[].model_id | string, as seen elsewhere | fct_model_day.model_id
      by_model[].model_tier | string, as seen elsewhere | fct_model_day.model_tier
      by_model[].billable_tokens | number, as seen elsewhere | fct_model_day.billable_tokens
      by_model[].input_tokens | number, as seen elsewhere | fct_model_day.input_tokens
      by_model[].output_tokens | number, as seen elsewhere | fct_model_day.output_tokens
      by_user[].user_id | string, as seen elsewhere | stg_platform__tokens_users.user_id
      by_user[].user_email | string or null, as seen elsewhere | stg_platform__tokens_users.user_email
      by_user[].billable_tokens | number, as seen elsewhere | stg_platform__tokens_users.billable_tokens
      by_user[].by_model[].model_id | string, as seen elsewhere | fct_user_model_day.model_id
      by_user[].by_model[].billable_tokens | number, as seen elsewhere | fct_user_model_day.billable_tokens
    `,
  },
  {
    heading: '`/tools` day row',
    name: 'tools',
    type: 'ToolsDay',
    resource: 'tools',
    sample: TOOLS,
    rows: `
      date | date | fct_tool_day.activity_date
      tool_calls | number | fct_org_day.tool_calls
      by_tool | array of object | map_tool_spelling#rows
      by_tool[].tool | string | map_tool_spelling.spelling
      by_tool[].invocations | number | stg_platform__tools_tools.invocations
      mcp_users_with_mcp | number | fct_org_day.mcp_users
      mcp_by_server | array of object | map_mcp_server_spelling#rows
      mcp_by_server[].server | string | map_mcp_server_spelling.spelling
      mcp_by_server[].invocations | number | stg_platform__tools_mcp_servers.invocations
      skills_invocations | number | fct_org_day.skills_invocations
      skills_by_name | array of object | fct_skill_day#rows
      skills_by_name[].name | string | fct_skill_day.skill_name
      skills_by_name[].count | number | fct_skill_day.invocations
      slash_commands_invocations | number | fct_org_day.slash_commands_invocations
      slash_commands_by_name | array of object | fct_slash_command_day#rows
      slash_commands_by_name[].name | string | fct_slash_command_day.command_name
      slash_commands_by_name[].count | number | fct_slash_command_day.invocations
      hooks_invocations | number | fct_org_day.hooks_invocations
      hooks_by_event | array of object, optional | fct_hook_day#rows
      hooks_by_event[].event | string | fct_hook_day.hook_event
      hooks_by_event[].matcher | string | fct_hook_day.matcher
      hooks_by_event[].command | string | fct_hook_day.command
      hooks_by_event[].count | number | fct_hook_day.invocations
      web_users | number | fct_org_day.web_users
      autonomy_ratio_avg | number | fct_org_day.autonomy_ratio_avg
      autonomy_ratio_p50 | number | fct_org_day.autonomy_ratio_p50
      autonomy_ratio_p90 | number | fct_org_day.autonomy_ratio_p90
      tool_calls_per_session_avg | number | fct_org_day.tool_calls_per_session_avg
      user_turns_per_session_avg | number | fct_org_day.user_turns_per_session_avg
      tool_autonomy_level_ratio | object | fct_autonomy_level_day#rows
      tool_autonomy_level_ratio.auto_high | number | fct_autonomy_level_day.share[autonomy_level=auto-high]
      tool_autonomy_level_ratio.auto_medium | number | fct_autonomy_level_day.share[autonomy_level=auto-medium]
      tool_autonomy_level_ratio.auto_low | number | fct_autonomy_level_day.share[autonomy_level=auto-low]
      tool_autonomy_level_ratio.manual | number | fct_autonomy_level_day.share[autonomy_level=manual]
    `,
  },
  {
    heading: '`/activity` day row',
    name: 'activity',
    type: 'ActivityDay',
    resource: 'activity',
    sample: ACTIVITY,
    rows: `
      date | date | fct_client_day.activity_date
      daily_active_users | number | fct_org_day.daily_active_users
      weekly_active_users | number | fct_org_day.weekly_active_users
      monthly_active_users | number | fct_org_day.monthly_active_users
      daily_active_users_by_client | object | fct_client_day#rows
      daily_active_users_by_client.terminal-ui | number | fct_client_day.daily_active_users[client=terminal-ui]
      daily_active_users_by_client.web | number | fct_client_day.daily_active_users[client=web]
      daily_active_users_by_client.non-interactive-cli | number | fct_client_day.daily_active_users[client=non-interactive-cli]
      sessions | number | fct_org_day.sessions
      messages | number | fct_org_day.messages
      user_messages | number | fct_org_day.user_messages
    `,
  },
  {
    heading: '`/productivity` day row',
    name: 'productivity',
    type: 'ProductivityDay',
    resource: 'productivity',
    sample: PRODUCTIVITY,
    rows: `
      date | date | fct_language_day.activity_date
      files_created | number | fct_org_day.files_created
      files_edited | number | fct_org_day.files_edited
      by_extension | array of object | fct_extension_day#rows
      by_extension[].extension | string | fct_extension_day.extension
      by_extension[].count | number | fct_extension_day.file_operations
      by_language | array of object | fct_language_day#rows
      by_language[].language | string | fct_language_day.language
      by_language[].count | number | fct_language_day.file_operations
      git_commits | number | fct_org_day.git_commits
      git_prs_created | number | fct_org_day.git_prs_created
    `,
  },
  {
    heading: '`/users` row',
    name: 'users',
    type: 'UserDay',
    resource: 'users',
    sample: USER,
    rows: `
      user_id | string | fct_user_day.user_id
      user_email | string or null | fct_user_day.user_email
      date | date | fct_user_day.activity_date
      tool_calls | number | fct_user_day.tool_calls
      billable_tokens | number | fct_user_day.billable_tokens
      files_created | number | fct_user_day.files_created
      files_edited | number | fct_user_day.files_edited
      git_commits | number | fct_user_day.git_commits
      git_prs_created | number | fct_user_day.git_prs_created
      mcp_calls | number | fct_user_day.mcp_calls
      skill_calls | number | fct_user_day.skill_calls
      slash_commands | number | fct_user_day.slash_commands
      hooks | number | fct_user_day.hooks
      sessions | number | fct_user_day.sessions
      messages | number | fct_user_day.messages
      user_messages | number | fct_user_day.user_messages
      assistant_messages | number | fct_user_day.assistant_messages
      primary_model | string | fct_user_day.primary_model
      primary_model_tier | enum standard, thinking | fct_user_day.primary_model_tier
      autonomy_ratio | number | fct_user_day.autonomy_ratio
      delegation_level | enum auto-high, auto-medium, auto-low, spec, manual, optional | fct_user_day.delegation_level
      languages | array of string | fct_user_language_day.language
    `,
  },
  {
    heading: 'Grouped rows, by tool',
    name: 'tools_by_name',
    type: "Awaited<ReturnType<PlatformClient['toolsByName']>>[number]",
    resource: 'tools_by_name',
    sample: TOOLS_BY_NAME,
    rows: `
      date | date | stg_platform__tools_by_name.activity_date
      group_key | string | stg_platform__tools_by_name.spelling
      tool_calls | number | stg_platform__tools_by_name.invocations
    `,
  },
  {
    heading: 'Grouped rows, by client',
    name: 'activity_by_client',
    type: "Awaited<ReturnType<PlatformClient['activityByClient']>>[number]",
    resource: 'activity_by_client',
    sample: ACTIVITY_BY_CLIENT,
    rows: `
      date | date | stg_platform__activity_by_client.activity_date
      group_key | enum terminal-ui, web, non-interactive-cli | stg_platform__activity_by_client.client
      daily_active_users | number | stg_platform__activity_by_client.daily_active_users
    `,
  },
  {
    heading: 'Grouped rows, by model',
    name: 'tokens_by_model',
    type: "Awaited<ReturnType<PlatformClient['tokensByModel']>>[number]",
    resource: 'tokens_by_model',
    sample: TOKENS_BY_MODEL,
    rows: `
      date | date | stg_platform__tokens_by_model.activity_date
      group_key | string | stg_platform__tokens_by_model.model_id
      billable_tokens | number, as seen elsewhere | stg_platform__tokens_by_model.billable_tokens
      input_tokens | number, as seen elsewhere | stg_platform__tokens_by_model.input_tokens
      output_tokens | number, as seen elsewhere | stg_platform__tokens_by_model.output_tokens
    `,
  },
]
