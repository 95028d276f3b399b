import type { PlatformResponses } from './answers.ts'
import { clientDays, clientOverlapDays, extensionDays, languageDays, orgDays } from './from-days.ts'
import { modelDays, userModelDays } from './from-tokens.ts'
import {
  autonomyLevelDays,
  hookDays,
  mcpServerDays,
  mcpServers,
  skillDays,
  slashCommandDays,
  toolDays,
  tools,
} from './from-tools.ts'
import { userDays, userLanguageDays, users } from './from-users.ts'
import type { ExpectedTable } from './table.ts'

export const TABLE_NAMES = [
  'fct_org_day',
  'fct_user_day',
  'fct_user_language_day',
  'fct_model_day',
  'fct_user_model_day',
  'fct_tool_day',
  'fct_mcp_server_day',
  'fct_client_day',
  'fct_client_overlap_day',
  'fct_skill_day',
  'fct_slash_command_day',
  'fct_hook_day',
  'fct_autonomy_level_day',
  'fct_language_day',
  'fct_extension_day',
  'dim_user',
  'dim_mcp_server',
  'dim_tool',
] as const

export type TableName = (typeof TABLE_NAMES)[number]

/**
 * What every mart of the analytics endpoints must hold, value by value, for a
 * warehouse that has synced exactly the window of the responses. Made from the
 * contract alone; shares no code with the pipeline.
 */
export function expectedMarts(answers: PlatformResponses): Record<TableName, ExpectedTable> {
  const toolDay = toolDays(answers)
  return {
    fct_org_day: orgDays(answers),
    fct_user_day: userDays(answers),
    fct_user_language_day: userLanguageDays(answers),
    fct_model_day: modelDays(answers),
    fct_user_model_day: userModelDays(answers),
    fct_tool_day: toolDay,
    fct_mcp_server_day: mcpServerDays(answers),
    fct_client_day: clientDays(answers),
    fct_client_overlap_day: clientOverlapDays(answers),
    fct_skill_day: skillDays(answers),
    fct_slash_command_day: slashCommandDays(answers),
    fct_hook_day: hookDays(answers),
    fct_autonomy_level_day: autonomyLevelDays(answers),
    fct_language_day: languageDays(answers),
    fct_extension_day: extensionDays(answers),
    dim_user: users(answers),
    dim_mcp_server: mcpServers(answers),
    dim_tool: tools(answers.orgId, toolDay),
  }
}
