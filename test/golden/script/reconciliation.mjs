// What `fct_reconciliation` must hold, by the description of the model.
import { count, double, measure, sum } from './reading.mjs'
import { isActive } from './served.mjs'

const SPENDS = ['billable_tokens', 'input_tokens', 'output_tokens']
const USUAL_UNPARSED = 0.00006

/** One row per check and day of which a side is known, with its status. */
export function reconciliation(served) {
  const rows = served.days.flatMap((day) =>
    checksOf(day, served).map((check) => row(check, day, served.org_id)),
  )
  const known = rows.filter(({ expected, actual }) => expected !== null || actual !== null)
  return known.map((each) => judged(each, known))
}

/** Each check: name, comparison, expected, actual, and what is no difference yet. */
function checksOf(day, { days, rowsOf, unparsedOf, clientDays }) {
  const [tokens, tools, activity, productivity] = [
    'tokens',
    'tools',
    'activity',
    'productivity',
  ].map((resource) => rowsOf(resource, day)[0] ?? {})
  const all = (rows, name) => sum(rows.map((each) => measure(name, each[name])))
  const users = rowsOf('users', day)
  const byUser = tokens.by_user ?? []
  const own = byUser.flatMap((user) => user.by_model ?? [])
  const nestedTools = tools.by_tool ?? []
  const clients = Object.values(activity.daily_active_users_by_client ?? {}).map(count)
  const chosen = clientDays(day).map(({ daily_active_users }) => daily_active_users)
  const equal = (name, expected, actual) => [name, 'equal', expected, actual, 0]
  const trailing = days.filter(
    (each) => each <= day && Date.parse(day) - Date.parse(each) < 28 * 86_400_000,
  )
  const [unparsed, parsed] = [0, 1].map((side) =>
    sum(trailing.map((each) => unparsedOf(each)[side])),
  )
  const shares = Object.values(tools.tool_autonomy_level_ratio ?? {})
  const header = (name) => measure(name, { ...activity, ...tools, ...productivity, ...tokens }[name])
  return [
    ...SPENDS.flatMap((name) => [
      equal(`by_model_${name}`, header(name), all(tokens.by_model ?? [], name)),
      equal(`by_user_${name}`, header(name), all(byUser, name)),
      equal(`by_user_by_model_${name}`, all(byUser, name), all(own, name)),
      equal(
        `tokens_by_model_${name}`,
        all(tokens.by_model ?? [], name),
        all(rowsOf('tokens_by_model', day), name),
      ),
    ]),
    equal('by_tool_invocations', header('tool_calls'), all(nestedTools, 'invocations')),
    equal(
      'tools_by_name_tool_calls',
      all(nestedTools, 'invocations'),
      all(rowsOf('tools_by_name', day), 'tool_calls'),
    ),
    equal(
      'skills_by_name_count',
      header('skills_invocations'),
      all(tools.skills_by_name ?? [], 'count'),
    ),
    equal(
      'slash_commands_by_name_count',
      header('slash_commands_invocations'),
      all(tools.slash_commands_by_name ?? [], 'count'),
    ),
    equal(
      'hooks_by_event_count',
      header('hooks_invocations'),
      all(tools.hooks_by_event ?? [], 'count'),
    ),
    equal(
      'activity_by_client_daily_active_users',
      sum(clients),
      all(rowsOf('activity_by_client', day), 'daily_active_users'),
    ),
    ...[
      'billable_tokens',
      'tool_calls',
      'files_created',
      'files_edited',
      'git_commits',
      'git_prs_created',
      'sessions',
      'messages',
      'user_messages',
    ].map((name) => equal(`users_${name}`, header(name), all(users, name))),
    equal('users_skill_calls', header('skills_invocations'), all(users, 'skill_calls')),
    equal(
      'users_slash_commands',
      header('slash_commands_invocations'),
      all(users, 'slash_commands'),
    ),
    equal('users_hooks', header('hooks_invocations'), all(users, 'hooks')),
    equal(
      'users_mcp_calls',
      all(tools.mcp_by_server ?? [], 'invocations'),
      all(users, 'mcp_calls'),
    ),
    equal(
      'users_distinct',
      header('daily_active_users'),
      users.length === 0 ? null : users.filter((row) => row.user_id && isActive(row)).length,
    ),
    [
      'clients_largest',
      'at_most',
      header('daily_active_users'),
      chosen.length === 0 ? null : chosen.toSorted((a, b) => Number(a - b)).at(-1),
      0,
    ],
    [
      'clients_sum',
      'at_least',
      header('daily_active_users'),
      chosen.includes(null) ? null : sum(chosen),
      0,
    ],
    [
      'daily_active_users',
      'at_most',
      header('weekly_active_users'),
      header('daily_active_users'),
      0,
    ],
    [
      'weekly_active_users',
      'at_most',
      header('monthly_active_users'),
      header('weekly_active_users'),
      0,
    ],
    ...(shares.length === 0
      ? []
      : [
          [
            'autonomy_level_shares',
            'equal',
            1,
            shares.reduce((total, share) => total + double(share), 0),
            0.01,
          ],
        ]),
    ...(unparsedOf(day)[1] === 0n
      ? []
      : [
          [
            'unparsed_tool_calls_28d',
            'at_most',
            USUAL_UNPARSED,
            Number(unparsed) / Number(parsed),
            4 * Math.sqrt(USUAL_UNPARSED / Number(parsed)),
          ],
        ]),
  ]
}

function row([check_name, comparison, one, other, tolerance], activity_date, org_id) {
  const expected = one === null && other !== null && Number(other) === 0 ? 0 : one
  const actual = other === null && one !== null && Number(one) === 0 ? 0 : other
  const names = { check_name, org_id, activity_date, comparison }
  const unit = check_name.endsWith('billable_tokens') ? 1e6 : 1
  if (expected === null || actual === null)
    return {
      ...names,
      expected: asNumber(expected, unit),
      actual: asNumber(actual, unit),
      difference: null,
      relative_difference: null,
    }
  const exact =
    typeof expected === 'bigint' && typeof actual === 'bigint'
      ? Number(actual - expected) / unit
      : (Number(actual) - Number(expected)) / unit
  const isHeld = { equal: exact === 0, at_most: exact <= 0, at_least: exact >= 0 }[comparison]
  const difference = isHeld || Math.abs(exact) <= tolerance ? 0 : exact
  const largest = Math.max(Math.abs(Number(expected)), Math.abs(Number(actual))) / unit
  return {
    ...names,
    expected: Number(expected) / unit,
    actual: Number(actual) / unit,
    difference,
    relative_difference: difference === 0 ? 0 : difference / largest,
  }
}

function asNumber(value, unit) {
  return value === null ? null : Number(value) / unit
}

function judged(row, all) {
  if (row.difference === null) return { ...row, usual_relative_difference: null, status: 'missing' }
  if (row.difference === 0) return { ...row, usual_relative_difference: null, status: 'ok' }
  const age = (other) =>
    (Date.parse(row.activity_date) - Date.parse(other.activity_date)) / 86_400_000
  const past = all
    .filter((other) => other.check_name === row.check_name && age(other) > 0 && age(other) <= 28)
    .map(({ relative_difference }) => relative_difference)
    .filter((value) => value !== null)
  if (past.length === 0) return { ...row, usual_relative_difference: null, status: 'baseline' }
  const usual = median(past)
  const spread = median(past.map((value) => Math.abs(value - usual)))
  const tolerance = usual === 0 && spread === 0 ? 0 : Math.max(6 * spread, 0.01)
  const isUsual = Math.abs(row.relative_difference - usual) <= tolerance
  return { ...row, usual_relative_difference: usual, status: isUsual ? 'baseline' : 'changed' }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
