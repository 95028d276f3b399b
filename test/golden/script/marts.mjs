// The rows of the marts by week, given those of facts and dimensions.
import { groupBy, sum, unique } from './reading.mjs'
import { UNATTRIBUTED, org_id } from './served.mjs'
import { isComplete, later, monday, weeks } from './weeks.mjs'

const OUTPUT = ['git_commits', 'git_prs_created', 'files_created', 'files_edited']

export function marts(made) {
  const teams = teamWeeks(made)
  return {
    mart_team_week: teams,
    mart_efficiency_week: teams.map(efficiency),
    mart_retention_week: retention(made),
    mart_user_lifecycle_week: lifecycle(made),
    mart_output_week: output(made),
    mart_autonomy_week: autonomy(made),
    mart_autonomy_level_week: levels(made),
    mart_mcp_week: mcp(made),
  }
}

function byWeek(rows, more = () => '') {
  return [...groupBy(rows, (row) => `${monday(row.activity_date)} ${more(row)}`).values()].map(
    (group) => ({
      week: { org_id, week_start_date: monday(group[0].activity_date) },
      group,
    }),
  )
}

function total(rows, name) {
  return sum(rows.map((row) => row[name]))
}

function totals(rows, names) {
  return Object.fromEntries(names.map((name) => [name, total(rows, name)]))
}

function activeRows({ fct_user_day }) {
  return fct_user_day.filter(({ user_id, is_active }) => is_active && user_id !== UNATTRIBUTED)
}

/** The users of a week. */
function usersOf(made, week, isCounted = () => true) {
  return unique(
    activeRows(made)
      .filter((row) => monday(row.activity_date) === week && isCounted(row))
      .map(({ user_id }) => user_id),
  )
}

function teamWeeks({ fct_user_day, dim_user_history }) {
  const rows = fct_user_day.map((row) => {
    const period = dim_user_history.find(
      ({ user_id, valid_from, valid_to }) =>
        user_id === row.user_id &&
        valid_from <= row.activity_date &&
        (valid_to === null || row.activity_date < valid_to),
    )
    return { ...row, team: period?.team ?? '(no team)' }
  })
  return byWeek(rows, ({ team }) => team).map(({ week, group }) => ({
    ...week,
    team: group[0].team,
    is_complete_week: isComplete(week.week_start_date),
    active_users: unique(activeRows({ fct_user_day: group }).map(({ user_id }) => user_id)).length,
    ...totals(group, ['billable_tokens', 'tool_calls', 'user_messages', ...OUTPUT]),
  }))
}

function efficiency({ tool_calls, user_messages, ...row }) {
  const is_suppressed = row.active_users < 5
  const shown = (value) => (is_suppressed ? null : value)
  const credits = Number(row.billable_tokens ?? 0n) / 1e6
  const ratios = OUTPUT.map((name) => [
    `${name}_per_million_credits`,
    shown(row[name] === null || credits === 0 ? null : (Number(row[name]) * 1e6) / credits),
  ])
  const sums = ['billable_tokens', ...OUTPUT].map((name) => [name, shown(row[name])])
  return { ...row, is_suppressed, ...Object.fromEntries([...sums, ...ratios]) }
}

function retention(made) {
  const firsts = new Map()
  for (const row of activeRows(made)) {
    const week = monday(row.activity_date)
    if (week < (firsts.get(row.user_id) ?? '9')) firsts.set(row.user_id, week)
  }
  return weeks.flatMap(({ week_start_date: cohort_week, is_left_edge }, place) => {
    const cohort = [...firsts].filter(([, week]) => week === cohort_week).map(([user]) => user)
    if (cohort.length === 0) return []
    return weeks.slice(place).map(({ week_start_date, is_complete_week }, week_number) => {
      const users = usersOf(made, week_start_date)
      const active = cohort.filter((user) => users.includes(user)).length
      return {
        org_id,
        cohort_week,
        week_number,
        week_start_date,
        cohort_users: cohort.length,
        active_users: is_complete_week ? active : null,
        retention: is_complete_week ? active / cohort.length : null,
        is_left_edge,
      }
    })
  })
}

function lifecycle(made) {
  return weeks.map((week, place) => {
    const { week_start_date, is_complete_week, is_users_known, is_left_edge } = week
    const now = usersOf(made, week_start_date)
    const before = usersOf(made, later(week_start_date, -7))
    const ever = weeks.slice(0, place).flatMap((earlier) => usersOf(made, earlier.week_start_date))
    const known = (users) => (is_users_known ? users.length : null)
    return {
      org_id,
      week_start_date,
      is_complete_week,
      is_week_before_complete: weeks[place - 1]?.is_complete_week ?? null,
      is_left_edge,
      active_users: known(now),
      new_users: known(now.filter((user) => !ever.includes(user))),
      retained_users: known(now.filter((user) => before.includes(user))),
      resurrected_users: known(
        now.filter((user) => ever.includes(user) && !before.includes(user)),
      ),
      churned_users: is_complete_week ? before.filter((user) => !now.includes(user)).length : null,
    }
  })
}

function output(made) {
  return weeks.map(({ week_start_date, is_complete_week, is_users_known }) => ({
    org_id,
    week_start_date,
    is_complete_week,
    active_users: is_users_known ? usersOf(made, week_start_date).length : null,
    ...totals(
      made.fct_org_day.filter((row) => monday(row.activity_date) === week_start_date),
      [...OUTPUT, 'billable_tokens'],
    ),
  }))
}

function autonomy({ fct_user_day }) {
  return byWeek(fct_user_day).map(({ week, group }) => {
    const { tool_calls, user_messages } = totals(group, ['tool_calls', 'user_messages'])
    const ratios = group
      .filter((row) => row.user_id !== UNATTRIBUTED && row.tool_calls !== null && row.user_messages > 0n)
      .map((row) => Number(row.tool_calls) / Number(row.user_messages))
      .sort((a, b) => a - b)
    return {
      ...week,
      is_complete_week: isComplete(week.week_start_date),
      tool_calls,
      user_messages,
      autonomy_ratio: ratioOf(tool_calls, user_messages),
      user_days: ratios.length,
      autonomy_ratio_p50: percentile(ratios, 0.5),
      autonomy_ratio_p90: percentile(ratios, 0.9),
    }
  })
}

function ratioOf(dividend, divisor) {
  const isKnown = dividend !== null && divisor !== null && Number(divisor) !== 0
  return isKnown ? Number(dividend) / Number(divisor) : null
}

/** Between the two values next to the place. */
function percentile(sorted, share) {
  if (sorted.length === 0) return null
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)]
  return below + (sorted[Math.ceil(place)] - below) * (place % 1)
}

function levels({ fct_autonomy_level_day, fct_org_day }) {
  const callsOf = (day) => fct_org_day.find((row) => row.activity_date === day).tool_calls
  const callsOfDays = (rows) => sum(unique(rows.map((row) => row.activity_date)).map(callsOf))
  return byWeek(fct_autonomy_level_day).flatMap(({ week, group }) =>
    [...groupBy(group, ({ autonomy_level }) => autonomy_level)].map(([autonomy_level, rows]) => {
      const tool_calls = rows.reduce(
        (all, row) => all + row.share * Number(callsOf(row.activity_date)),
        0,
      )
      const all_tool_calls = callsOfDays(group)
      return {
        ...week,
        is_complete_week: isComplete(week.week_start_date),
        autonomy_level,
        tool_calls,
        all_tool_calls,
        share: ratioOf(tool_calls, all_tool_calls),
        known_days: unique(group.map((row) => row.activity_date)).length,
      }
    }),
  )
}

function mcp(made) {
  const called = made.fct_mcp_server_day.filter(({ invocations }) => invocations !== 0n)
  const used = byWeek(called, ({ mcp_server }) => mcp_server)
  return used.map(({ week, group }) => {
    const { week_start_date } = week
    const [{ mcp_server }] = group
    const isSeenBefore = called.some(
      (row) => row.mcp_server === mcp_server && row.activity_date < week_start_date,
    )
    const { is_left_edge } = weeks.find((each) => each.week_start_date === week_start_date)
    return {
      ...week,
      is_complete_week: isComplete(week_start_date),
      mcp_server,
      display_name: made.dim_mcp_server.find((row) => row.mcp_server === mcp_server).display_name,
      invocations: total(group, 'invocations'),
      days_used: group.length,
      is_first_week: isSeenBefore ? false : is_left_edge ? null : true,
      users_with_mcp: usersOf(made, week_start_date, ({ mcp_calls }) => mcp_calls > 0n).length,
    }
  })
}
