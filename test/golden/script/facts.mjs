// The rows of every fact.
import { count, double, groupBy, left, unique } from './reading.mjs'
import { reconciliation } from './reconciliation.mjs'
import { restatements } from './restatements.mjs'
import {
  added,
  calendar,
  counts,
  days,
  isActive,
  key,
  UNATTRIBUTED,
  org_id,
  rowsOf,
  seeds,
  SPENDS,
  today,
  USER_METRICS,
} from './served.mjs'
import { modelDays, userModelDays } from './spend.mjs'
import { canonical, toolDays, unparsedOf } from './tools.mjs'

export function facts() {
  const tokens = days.flatMap((day) => rowsOf('tokens', day))
  const tools = days.flatMap((day) => rowsOf('tools', day))
  return {
    fct_org_day: days.map(orgDay),
    fct_user_day: days.flatMap(userDays),
    fct_user_language_day: today.users.flatMap((row) =>
      unique((row.languages ?? []).map((language) => language)).map((language) => ({
        ...key(row.date),
        user_id: row.user_id || UNATTRIBUTED,
        language,
      })),
    ),
    fct_model_day: days.flatMap(modelDays),
    fct_user_model_day: tokens.flatMap(userModelDays),
    fct_tool_day: days.flatMap(toolDays),
    fct_mcp_server_day: tools.flatMap((row) =>
      added(
        (row.mcp_by_server ?? []).map(({ server, invocations }) => ({
          ...key(row.date),
          mcp_server: canonical(server),
          invocations: count(invocations),
        })),
        ['org_id', 'activity_date', 'mcp_server'],
        ['invocations'],
      ),
    ),
    fct_client_day: days.flatMap(clientDays),
    fct_client_overlap_day: days.flatMap(overlap),
    fct_skill_day: tools.flatMap((row) => named(row, 'skills', 'skill_name', 'skills_by_name')),
    fct_slash_command_day: tools.flatMap((row) =>
      named(row, 'slash_commands', 'command_name', 'slash_commands_by_name'),
    ),
    fct_hook_day: tools.flatMap(hookDays),
    fct_autonomy_level_day: tools.flatMap(levelDays),
    fct_language_day: today.productivity.flatMap((row) =>
      produced(row, 'language', row.by_language),
    ),
    fct_extension_day: today.productivity.flatMap((row) =>
      produced(row, 'extension', row.by_extension),
    ),
    fct_restatement: restatements(),
    fct_reconciliation: reconciliation({ org_id, days, rowsOf, unparsedOf, clientDays }),
    fct_licence_day: licenceDays(),
  }
}

function orgDay(day) {
  const [activity, tools, tokens, productivity] = [
    'activity',
    'tools',
    'tokens',
    'productivity',
  ].map((resource) => rowsOf(resource, day)[0])
  const ratios = [
    'autonomy_ratio_avg',
    'autonomy_ratio_p50',
    'autonomy_ratio_p90',
    'tool_calls_per_session_avg',
    'user_turns_per_session_avg',
  ]
  const active = ['daily_active_users', 'weekly_active_users', 'monthly_active_users']
  const used = [
    'tool_calls',
    'web_users',
    'skills_invocations',
    'slash_commands_invocations',
    'hooks_invocations',
  ]
  return {
    ...key(day),
    ...counts(activity, [...active, 'sessions', 'messages', 'user_messages']),
    ...counts(tools, used),
    mcp_users: count(tools?.mcp_users_with_mcp),
    ...Object.fromEntries(ratios.map((name) => [name, double(tools?.[name])])),
    ...counts(tokens, [...SPENDS, 'cache_read_tokens', 'cache_write_tokens']),
    ...counts(productivity, ['files_created', 'files_edited', 'git_commits', 'git_prs_created']),
  }
}

function userDays(day) {
  const rows = rowsOf('users', day).map((row) => ({
    ...key(day),
    user_id: row.user_id || UNATTRIBUTED,
    user_email: row.user_id ? row.user_email || null : null,
    ...counts(row, USER_METRICS),
    primary_model: (row.user_id && row.primary_model) || null,
    primary_model_tier: (row.user_id && row.primary_model_tier) || null,
    autonomy_ratio: row.user_id ? double(row.autonomy_ratio) : null,
    delegation_level: row.delegation_level?.replace('_', '-') ?? null,
  }))
  const unattributed = rows.filter(({ user_id }) => user_id === UNATTRIBUTED)
  const merged =
    unattributed.length === 0 ? [] : [{ ...unattributed[0], ...added(unattributed, ['user_id'], USER_METRICS)[0] }]
  return [...rows.filter(({ user_id }) => user_id !== UNATTRIBUTED), ...merged].map((row) => ({
    ...row,
    is_active: isActive(row),
  }))
}

function clientDays(day) {
  const nested = Object.entries(rowsOf('activity', day)[0]?.daily_active_users_by_client ?? {})
  const grouped = rowsOf('activity_by_client', day).map((row) => [
    row.group_key,
    row.daily_active_users,
  ])
  return (nested.length > 0 ? nested : grouped).map(([client, users]) => ({
    ...key(day),
    client,
    daily_active_users: count(users),
  }))
}

function overlap(day) {
  const clients = clientDays(day).map(({ daily_active_users }) => Number(daily_active_users))
  if (clients.length === 0) return []
  const [S, D, C] = [
    clients.reduce((a, b) => a + b),
    orgDay(day).daily_active_users,
    clients.filter((n) => n > 0).length,
  ]
  const extra = S - Number(D)
  const min = C <= 1 ? 0 : Math.ceil(extra / (C - 1))
  const max = Math.min(extra, Number(D))
  const isPossible = extra >= 0 && min <= max
  return [
    {
      ...key(day),
      daily_active_users: D,
      client_memberships: S,
      active_clients: C,
      multi_client_users_min: isPossible ? min : null,
      multi_client_users_max: isPossible ? max : null,
    },
  ]
}

function named(row, total, column, list) {
  const parts = (row[list] ?? []).map((part) => ({
    [column]: part.name,
    invocations: count(part.count),
  }))
  const rest = left(
    count(row[`${total}_invocations`]),
    parts.map(({ invocations }) => invocations),
  )
  const all = rest > 0n ? [...parts, { [column]: UNATTRIBUTED, invocations: rest }] : parts
  return added(all, [column], ['invocations']).map((part) => ({ ...key(row.date), ...part }))
}

function hookDays(row) {
  const parts = (row.hooks_by_event ?? []).map((part) => ({
    hook_event: part.event,
    matcher: part.matcher,
    command: part.command,
    invocations: count(part.count),
  }))
  const rest = left(
    count(row.hooks_invocations),
    parts.map(({ invocations }) => invocations),
  )
  const unattributed = { hook_event: UNATTRIBUTED, matcher: null, command: null, invocations: rest }
  return added(
    rest > 0n ? [...parts, unattributed] : parts,
    ['hook_event', 'matcher', 'command'],
    ['invocations'],
  ).map((part) => ({ ...key(row.date), ...part }))
}

function levelDays(row) {
  const levels = Object.entries(row.tool_autonomy_level_ratio ?? {})
  const groups = groupBy(levels, ([level]) => level.replace('_', '-'))
  return [...groups].map(([autonomy_level, shares]) => ({
    ...key(row.date),
    autonomy_level,
    share: shares.reduce((total, [, share]) => total + double(share), 0),
  }))
}

function produced(row, column, parts = []) {
  const entries = parts.map((part) => ({
    [column]: part[column] ?? '(unnamed)',
    file_operations: count(part.count),
  }))
  return added(entries, [column], ['file_operations']).map((part) => ({
    ...key(row.date),
    ...part,
  }))
}

function licenceDays() {
  const teams = unique(seeds.licences.map(({ team }) => team))
  return calendar().flatMap((day) =>
    teams.flatMap((team) => {
      const line = seeds.licences
        .filter((each) => each.team === team && each.valid_from <= day)
        .at(-1)
      if (line === undefined) return []
      const price = line.monthly_price === null ? null : Number(line.monthly_price)
      const daysOfMonth = new Date(
        Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0),
      ).getUTCDate()
      return [
        {
          ...key(day),
          team: team ?? '(organisation)',
          seats: Number(line.seats),
          monthly_price: price,
          currency: line.currency,
          day_price: price === null ? null : (Number(line.seats) * price) / daysOfMonth,
        },
      ]
    }),
  )
}
