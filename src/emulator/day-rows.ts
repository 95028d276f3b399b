import {
  extensionCounts,
  hookCounts,
  languageCounts,
  namedCounts,
  serverCounts,
  toolCounts,
  type Counted,
} from './breakdowns.ts'
import type { WorkDay } from './calendar.ts'
import { SKILLS, SLASH_COMMANDS, type DelegationLevel } from './catalogue.ts'
import type { DayTotals } from './day-totals.ts'
import {
  array,
  decimal,
  object,
  quote,
  quoteAscii,
  spellExponent,
  spellFraction,
  type Field,
} from './json.ts'
import type { TrailingCounts } from './organisation.ts'

/** The day row of `/tools`. */
export function toolRow(totals: DayTotals): string {
  const { workDay, autonomy, sessions } = totals
  const text = workDay.offset % 2 === 0 ? quote : quoteAscii
  return dayRow(workDay, [
    ['tool_calls', String(totals.toolCalls)],
    ['by_tool', items(toolCounts(totals), 'tool', 'invocations', quote)],
    [
      'mcp_users_with_mcp',
      every(4, workDay) ? spellFraction(totals.mcpUsers) : `${totals.mcpUsers}`,
    ],
    ['mcp_by_server', items(serverCounts(totals), 'server', 'invocations', text)],
    ['skills_invocations', String(totals.skillCalls)],
    [
      'skills_by_name',
      items(namedCounts(totals, totals.skillCalls, SKILLS), 'name', 'count', text),
    ],
    ['slash_commands_invocations', String(totals.slashCommands)],
    [
      'slash_commands_by_name',
      items(namedCounts(totals, totals.slashCommands, SLASH_COMMANDS), 'name', 'count', quote),
    ],
    ['hooks_invocations', String(totals.hooks)],
    ...(workDay.hasNewFields ? [['hooks_by_event', hookItems(totals)] as const] : []),
    ['web_users', String(totals.clients.get('web') ?? 0)],
    ['autonomy_ratio_avg', decimal(autonomy.average, 4)],
    ['autonomy_ratio_p50', decimal(autonomy.median, 2)],
    ['autonomy_ratio_p90', decimal(autonomy.high, 2)],
    ['tool_calls_per_session_avg', decimal(ratio(totals.toolCalls, sessions), 4)],
    ['user_turns_per_session_avg', decimal(ratio(totals.userMessages, sessions), 4)],
    ['tool_autonomy_level_ratio', levelShares(totals)],
  ])
}

/** The rows of `/tools?group_by=tool_name`: `by_tool`, flattened. */
export function toolRowsByName(totals: DayTotals): string[] {
  return toolCounts(totals).map(([tool, calls]) =>
    groupRow(totals.workDay, tool, [['tool_calls', String(calls)]]),
  )
}

/** The day row of `/activity`. */
export function activityRow(totals: DayTotals, trailing: TrailingCounts): string {
  const clients = [...totals.clients].map(([client, users]) => [client, String(users)] as const)
  return dayRow(totals.workDay, [
    ['daily_active_users', String(totals.activeUsers)],
    ['weekly_active_users', String(trailing.weekly)],
    ['monthly_active_users', String(trailing.monthly)],
    ['daily_active_users_by_client', object(clients)],
    ['sessions', String(totals.sessions)],
    ['messages', String(totals.messages)],
    ['user_messages', String(totals.userMessages)],
  ])
}

/** The rows of `/activity?group_by=client`: each client's users, flattened. */
export function activityRowsByClient(totals: DayTotals): string[] {
  return [...totals.clients].map(([client, users]) =>
    groupRow(totals.workDay, client, [['daily_active_users', String(users)]]),
  )
}

/** The day row of `/productivity`. */
export function productivityRow(totals: DayTotals): string {
  const { workDay, filesEdited, commits } = totals
  return dayRow(workDay, [
    ['files_created', String(totals.filesCreated)],
    ['files_edited', every(9, workDay) ? spellExponent(filesEdited) : String(filesEdited)],
    ['by_extension', items(extensionCounts(totals), 'extension', 'count', quote)],
    ['by_language', items(languageCounts(totals), 'language', 'count', quote)],
    ['git_commits', every(5, workDay) ? spellFraction(commits) : String(commits)],
    ['git_prs_created', String(totals.pullRequests)],
  ])
}

/**
 * A day row as the platform might spell it: now and then in another key order,
 * and after some weeks with a field that the specification does not name.
 */
export function dayRow(workDay: WorkDay, fields: readonly Field[]): string {
  const all: Field[] = [['date', quote(workDay.day)], ...fields]
  if (workDay.offset >= 20) all.push(['preview', UNKNOWN_FIELD])
  return object(every(7, workDay) ? all.reverse() : all)
}

/** A row of a grouped form. */
export function groupRow(workDay: WorkDay, group: string, metrics: readonly Field[]): string {
  return object([['date', quote(workDay.day)], ['group_key', quote(group)], ...metrics])
}

const UNKNOWN_FIELD = '{"cohort":"b","flags":["early",{"depth":2,"ratio":0.1000}],"window":1e3}'

/** True on one day of `period`, never the first. */
function every(period: number, workDay: WorkDay): boolean {
  return workDay.offset % period === 3
}

function items(
  counts: readonly Counted[],
  nameField: string,
  countField: string,
  text: (name: string) => string,
): string {
  return array(
    counts.map(([name, count]) =>
      object([
        [nameField, text(name)],
        [countField, String(count)],
      ]),
    ),
  )
}

function hookItems(totals: DayTotals): string {
  return array(
    hookCounts(totals).map(([hook, count]) =>
      object([
        ['event', quote(hook.event)],
        ['matcher', quote(hook.matcher)],
        ['command', quote(hook.command)],
        ['count', String(count)],
      ]),
    ),
  )
}

/** Shares of the tool calls; a plan that waits for consent (`spec`) counts as manual. */
function levelShares(totals: DayTotals): string {
  const share = (...levels: DelegationLevel[]): string =>
    decimal(
      ratio(
        levels.reduce((sum, level) => sum + (totals.levels.get(level) ?? 0), 0),
        totals.toolCalls,
      ),
      6,
    )
  return object([
    ['auto_high', share('auto-high')],
    ['auto_medium', share('auto-medium')],
    ['auto_low', share('auto-low')],
    ['manual', share('manual', 'spec')],
  ])
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
