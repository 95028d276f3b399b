import type { PlatformResponses } from './answers.ts'
import type { Json, JsonObject } from './exact-json.ts'
import {
  canonicalServer,
  cleanedToolName,
  cleanToolNames,
  UNATTRIBUTED,
  UNPARSED,
} from './names.ts'
import { byDay, count, double, entries, items, rowsByDay, sorted, text } from './reading.ts'
import {
  addUp,
  anyOf,
  type ExpectedRow,
  type ExpectedTable,
  expectedTable,
  type Part,
  residual,
} from './table.ts'

interface ToolCount {
  readonly name: string
  readonly invocations: bigint | null
}

/**
 * fct_tool_day: the day's `by_tool` (or the grouped rows where a day has none)
 * by cleaned name, and what `tool_calls` has beyond it as '(unattributed)'.
 */
export function toolDays(answers: PlatformResponses): ExpectedTable {
  const headers = byDay(answers.tools)
  const grouped = rowsByDay(answers.toolsByName)
  const known = cleanToolNames(servedToolNames(answers))
  const rows = sorted([...headers.keys(), ...grouped.keys()]).flatMap((day) => {
    const served = toolsOfDay(headers.get(day), grouped.get(day) ?? [])
    const parts = served.map(({ name, invocations }) => ({
      members: { tool_name: cleanedToolName(name, known) },
      counts: { invocations },
    }))
    const left = residual(
      count(headers.get(day)?.get('tool_calls')),
      served.map(({ invocations }) => invocations),
    )
    const rest = { members: { tool_name: UNATTRIBUTED }, counts: { invocations: left } }
    return dated(answers.orgId, day, addUp(left === null ? parts : [...parts, rest]))
  })
  return expectedTable(['org_id', 'activity_date', 'tool_name'], ['invocations'], rows)
}

/** dim_tool: every name in fct_tool_day; the two members in parentheses may always be there. */
export function tools(orgId: string, toolDay: ExpectedTable): ExpectedTable {
  const called = sorted([...toolDay.rows.values()].flatMap(toolNameOf))
  const needed = called.filter((name) => name !== UNATTRIBUTED)
  const allowed = [UNPARSED, UNATTRIBUTED].filter((name) => !needed.includes(name))
  const row = (name: string): ExpectedRow => ({
    org_id: orgId,
    tool_name: name,
    is_unparsed: name === UNPARSED,
  })
  return expectedTable(['org_id', 'tool_name'], ['is_unparsed'], needed.map(row), allowed.map(row))
}

function toolNameOf(row: ExpectedRow): string[] {
  const name = row['tool_name']
  return typeof name === 'string' ? [name] : []
}

/** fct_mcp_server_day: the spellings of one server are one server. */
export function mcpServerDays(answers: PlatformResponses): ExpectedTable {
  return named(answers, 'mcp_server', 'mcp_by_server', (item) => {
    const spelling = text(item.get('server'))
    return spelling === null ? null : canonicalServer(spelling)
  })
}

/** dim_mcp_server: a server's display name is its most used spelling; equals are equally good. */
export function mcpServers(answers: PlatformResponses): ExpectedTable {
  const served = [...byDay(answers.tools).values()].flatMap((row) =>
    items(row.get('mcp_by_server')),
  )
  const spellings = addUp(
    served.flatMap((item) => {
      const spelling = text(item.get('server'))
      return spelling === null
        ? []
        : [{ members: { spelling }, counts: { invocations: count(item.get('invocations')) } }]
    }),
  )
  const serverOf = ({ members }: Part): string => canonicalServer(members['spelling'] ?? '')
  const rows = sorted(spellings.map(serverOf)).map((server) => {
    const own = spellings.filter((spelling) => serverOf(spelling) === server)
    return {
      org_id: answers.orgId,
      mcp_server: server,
      display_name: anyOf(...mostUsed(own)),
      spelling_count: BigInt(own.length),
    }
  })
  return expectedTable(['org_id', 'mcp_server'], ['display_name', 'spelling_count'], rows)
}

/** fct_skill_day. What the day's total has beyond the names may be an '(unattributed)' row. */
export function skillDays(answers: PlatformResponses): ExpectedTable {
  const table = named(answers, 'skill_name', 'skills_by_name', nameOf, 'count')
  return withResiduals(answers, table, 'skills_invocations', { skill_name: UNATTRIBUTED })
}

/** fct_slash_command_day. What the day's total has beyond the names may be an '(unattributed)' row. */
export function slashCommandDays(answers: PlatformResponses): ExpectedTable {
  const table = named(answers, 'command_name', 'slash_commands_by_name', nameOf, 'count')
  return withResiduals(answers, table, 'slash_commands_invocations', { command_name: UNATTRIBUTED })
}

/** fct_hook_day: a hook without matcher or command has NULL there. The residual as for skills. */
export function hookDays(answers: PlatformResponses): ExpectedTable {
  const rows = [...byDay(answers.tools)].flatMap(([day, row]) => {
    const parts = items(row.get('hooks_by_event')).map((hook) => ({
      members: {
        hook_event: text(hook.get('event')) ?? '',
        matcher: text(hook.get('matcher')),
        command: text(hook.get('command')),
      },
      counts: { invocations: count(hook.get('count')) },
    }))
    return dated(answers.orgId, day, addUp(parts))
  })
  const key = ['org_id', 'activity_date', 'hook_event', 'matcher', 'command']
  const table = expectedTable(key, ['invocations'], rows)
  const nobody = { hook_event: UNATTRIBUTED, matcher: null, command: null }
  return withResiduals(answers, table, 'hooks_invocations', nobody)
}

/**
 * The contract asks that totals match, but names no residual for these tables:
 * the row may be there or not, with what the total has beyond its parts.
 */
function withResiduals(
  answers: PlatformResponses,
  table: ExpectedTable,
  total: string,
  members: Part['members'],
): ExpectedTable {
  const rows = [...table.rows.values()]
  const residuals = [...byDay(answers.tools)].flatMap(([day, header]) => {
    const own = rows.filter((row) => row['activity_date'] === day)
    const parts = own.map((row) => row['invocations'])
    const left = residual(
      count(header.get(total)),
      parts.filter((part) => typeof part === 'bigint'),
    )
    return dated(
      answers.orgId,
      day,
      left === null ? [] : [{ members, counts: { invocations: left } }],
    )
  })
  return expectedTable(table.key, ['invocations'], rows, residuals)
}

function nameOf(item: JsonObject): string | null {
  return text(item.get('name'))
}

/** fct_autonomy_level_day: `auto_high` is `auto-high` everywhere. A level sent as null may be left out. */
export function autonomyLevelDays(answers: PlatformResponses): ExpectedTable {
  const rows = [...byDay(answers.tools)].flatMap(([day, row]) =>
    entries(row.get('tool_autonomy_level_ratio')).map(([level, share]) => ({
      org_id: answers.orgId,
      activity_date: day,
      autonomy_level: level.replaceAll('_', '-'),
      share: double(share),
    })),
  )
  return expectedTable(
    ['org_id', 'activity_date', 'autonomy_level'],
    ['share'],
    rows.filter(({ share }) => share !== null),
    rows.filter(({ share }) => share === null),
  )
}

function servedToolNames(answers: PlatformResponses): string[] {
  const nested = [...byDay(answers.tools).values()].flatMap((row) => items(row.get('by_tool')))
  return [
    ...nested.map((item) => text(item.get('tool')) ?? ''),
    ...answers.toolsByName.map((row) => text(row.get('group_key')) ?? ''),
  ]
}

function toolsOfDay(header: JsonObject | undefined, grouped: readonly JsonObject[]): ToolCount[] {
  const nested = items(header?.get('by_tool'))
  return nested.length > 0
    ? nested.map((item) => toolCount(item.get('tool'), item.get('invocations')))
    : grouped.map((row) => toolCount(row.get('group_key'), row.get('tool_calls')))
}

function toolCount(name: Json | undefined, invocations: Json | undefined): ToolCount {
  return { name: text(name) ?? '', invocations: count(invocations) }
}

/** Invocations by day and one name, from one of the breakdowns of a /tools row. */
function named(
  answers: PlatformResponses,
  column: string,
  breakdown: string,
  nameOf: (item: JsonObject) => string | null,
  metric = 'invocations',
): ExpectedTable {
  const rows = [...byDay(answers.tools)].flatMap(([day, row]) => {
    const parts = items(row.get(breakdown)).flatMap((item) => {
      const name = nameOf(item)
      const counts = { invocations: count(item.get(metric)) }
      return name === null ? [] : [{ members: { [column]: name }, counts }]
    })
    return dated(answers.orgId, day, addUp(parts))
  })
  return expectedTable(['org_id', 'activity_date', column], ['invocations'], rows)
}

function dated(orgId: string, day: string, parts: readonly Part[]): ExpectedRow[] {
  return parts.map(({ members, counts }) => ({
    org_id: orgId,
    activity_date: day,
    ...members,
    ...counts,
  }))
}

function mostUsed(spellings: readonly Part[]): string[] {
  const uses = (spelling: Part): bigint => spelling.counts['invocations'] ?? 0n
  return spellings
    .filter((one) => spellings.every((other) => uses(other) <= uses(one)))
    .map(({ members }) => members['spelling'] ?? '')
}
