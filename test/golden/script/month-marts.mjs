// The rows of the marts by month, day and person, given those of facts and
// dimensions.
import { groupBy, sum, unique } from './reading.mjs'
import { UNATTRIBUTED, org_id, seeds, sessions } from './served.mjs'
import { isAnswered, isWholeDay, lastDay, lastDayOfUsers, later } from './weeks.mjs'

/** The first day that the platform has. */
const HISTORY_START = '2026-01-14'

export function monthMarts(made) {
  return {
    mart_spend_pareto: pareto(made),
    mart_tool_mix: toolMix(made),
    mart_cache_day: made.fct_org_day.flatMap(cacheDay),
    mart_seats: seats(made),
    mart_data_health: [health(made)],
  }
}

function byMonth(rows, more = () => '') {
  const groups = groupBy(rows, (row) => `${row.activity_date.slice(0, 7)} ${more(row)}`)
  return [...groups.values()].map((group) => ({
    month: { org_id, month_start_date: `${group[0].activity_date.slice(0, 7)}-01` },
    group,
  }))
}

function pareto({ fct_user_day }) {
  const people = fct_user_day.filter(({ user_id }) => user_id !== UNATTRIBUTED)
  return byMonth(people).flatMap(({ month, group }) => {
    const users = [...groupBy(group, ({ user_id }) => user_id)]
      .map(([user_id, rows]) => [user_id, sum(rows.map((row) => row.billable_tokens))])
      .filter(([, credits]) => credits !== null)
      .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : Number(y - x)))
    const all = Number(sum(users.map(([, credits]) => credits)))
    const upTo = (count) => Number(sum(users.slice(0, count).map(([, credits]) => credits))) / all
    // half of the mean difference of two users, over the mean
    const differences = users.flatMap(([, x]) => users.map(([, y]) => Math.abs(Number(x - y))))
    const gini = differences.reduce((a, b) => a + b, 0) / (2 * users.length * all)
    const known = (value) => (all > 0 ? value : null)
    return users.map(([user_id, billable_tokens], place) => ({
      ...month,
      user_id,
      user_rank: place + 1,
      user_count: users.length,
      billable_tokens,
      cumulative_share: known(upTo(place + 1)),
      top_10_percent_share: known(upTo(Math.ceil(users.length / 10))),
      gini: known(gini),
    }))
  })
}

function daysOfMonth(start) {
  const [year, month] = start.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function toolMix({ fct_tool_day }) {
  return byMonth(fct_tool_day).flatMap(({ month, group }) => {
    const days_in_month = daysOfMonth(month.month_start_date)
    const days = Array.from({ length: days_in_month }, (_, n) => later(month.month_start_date, n))
    const all = Number(sum(group.map(({ invocations }) => invocations)))
    return [...groupBy(group, ({ tool_name }) => tool_name)].map(([tool_name, rows]) => {
      const invocations = sum(rows.map((row) => row.invocations))
      return {
        ...month,
        tool_name,
        invocations,
        share: invocations === null || all === 0 ? null : Number(invocations) / all,
        known_days: days.filter((day) => isAnswered('tools', day)).length,
        days_in_month,
      }
    })
  })
}

function cacheDay({ activity_date, input_tokens, cache_read_tokens, cache_write_tokens }) {
  const parts = [input_tokens, cache_read_tokens, cache_write_tokens]
  if (parts.every((part) => part === null)) return []
  const isKnown = parts.every((part) => part !== null) && sum(parts) > 0n
  return [
    {
      org_id,
      activity_date,
      input_tokens,
      cache_read_tokens,
      cache_write_tokens,
      cache_read_share: isKnown ? Number(cache_read_tokens) / Number(sum(parts)) : null,
      is_read_beyond_input:
        cache_read_tokens === null || input_tokens === null
          ? null
          : cache_read_tokens > input_tokens,
    },
  ]
}

function seats({ dim_user, dim_user_history, fct_user_day }) {
  const asOf = lastDayOfUsers()
  const members = dim_user.filter(({ user_id }) => user_id !== UNATTRIBUTED)
  const seen = members.map((member) => {
    const { user_id, user_email, user_label, last_active_date } = member
    const days = fct_user_day.filter(
      (row) => row.user_id === user_id && row.is_active && row.activity_date > later(asOf, -28),
    )
    const person = { user_id, user_email, user_label, team: member.team, last_active_date }
    return { ...person, active_days_28: days.length }
  })
  const named = dim_user_history.flatMap(({ user_id, user_email }) => [
    user_id,
    user_email?.toLowerCase(),
  ])
  const keyOf = ({ user }) => (user.includes('@') ? user.toLowerCase() : user)
  const lines = seeds.teams.filter(
    (line) => line.valid_from <= lastDay && !named.includes(keyOf(line)),
  )
  const unseen = unique(lines.map(keyOf)).map((name) => {
    const { user, team } = lines.findLast((line) => keyOf(line) === name)
    const isAddress = user.includes('@')
    return {
      user_id: isAddress ? null : user,
      user_email: isAddress ? user : null,
      user_label: user,
      team,
      last_active_date: null,
      active_days_28: 0,
    }
  })
  return [...seen, ...unseen].map((person) => ({
    org_id,
    ...person,
    team: person.team ?? '(no team)',
    is_licensed: person.team !== null,
    status: statusOf(person),
  }))
}

function statusOf({ team, last_active_date, active_days_28 }) {
  if (team === null) return 'unlicensed'
  if (active_days_28 > 0) return 'active'
  return last_active_date === null ? 'never_used' : 'idle'
}

/** All but the drift, which is what the documentation makes of the case. */
function health({ fct_org_day, fct_reconciliation }) {
  const days = []
  for (let day = HISTORY_START; day <= lastDay; day = later(day, 1)) days.push(day)
  const whole = days.filter(isWholeDay)
  const changed = fct_reconciliation.filter(
    ({ status, activity_date }) => status === 'changed' && activity_date > later(lastDay, -28),
  )
  const served = Number(sum(fct_org_day.map((row) => row.sessions)))
  return {
    org_id,
    data_through: whole.at(-1) ?? null,
    last_day: lastDay,
    days: days.length,
    missing_days: days.length - whole.length,
    failed_days: 0,
    residual_checks_failed: changed.length,
    restatements_28d: 0,
    sessions_known_share: sessions.length > served ? null : sessions.length / served,
    verdict: whole.length < days.length ? 'incomplete' : 'complete',
  }
}
