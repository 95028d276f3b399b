// What changed with an event: each user day is looked up in the team of that day.
import { sum, unique } from './reading.mjs'
import { UNATTRIBUTED, org_id, seeds } from './served.mjs'
import { later, monday, weeks } from './weeks.mjs'

const METRICS = {
  active_users: (span) => span.userWeeks / 4,
  active_days_per_active_user: (span) => span.rows.length / span.userWeeks,
  billable_tokens_per_active_user: (span) => perUser(span, 'billable_tokens', 1e6),
  tool_calls_per_active_user: (span) => perUser(span, 'tool_calls'),
  tool_calls_per_user_message(span) {
    const [calls, messages] = [total(span, 'tool_calls'), total(span, 'user_messages')]
    return calls === null || messages === null ? null : Number(calls) / Number(messages)
  },
  git_commits_per_active_user: (span) => perUser(span, 'git_commits'),
  git_prs_created_per_active_user: (span) => perUser(span, 'git_prs_created'),
}

function total({ rows }, name) {
  return sum(rows.map((row) => row[name]))
}

function perUser(span, name, unit = 1) {
  const all = total(span, name)
  return all === null ? null : Number(all) / unit / span.userWeeks
}

export function eventEffect({ fct_user_day, dim_user_history }) {
  const rows = fct_user_day
    .filter(({ user_id, is_active }) => is_active && user_id !== UNATTRIBUTED)
    .map((row) => ({ ...row, team: teamOn(dim_user_history, row) }))
  return seeds.events.flatMap((event) => effectOf(event, rows))
}

function teamOn(history, { user_id, activity_date }) {
  const period = history.findLast(
    (each) => each.user_id === user_id && each.valid_from <= activity_date,
  )
  return period?.team ?? '(no team)'
}

function effectOf({ event_date, name, team }, rows) {
  const lines = seeds.events.filter((each) => each.event_date === event_date && each.name === name)
  const named = lines.map((line) => line.team)
  const isAffected = (row) => team === null || row.team === team
  const isUnaffected = (row) => !named.includes(null) && !named.includes(row.team)
  const firstAfter = monday(later(event_date, 6))
  const after = [0, 7, 14, 21].map((days) => later(firstAfter, days))
  const before = [28, 21, 14, 7].map((days) => later(monday(event_date), -days))
  const affected = groupOf(rows.filter(isAffected), before, after)
  const unaffected = groupOf(rows.filter(isUnaffected), before, after)
  const isForEvery = named.includes(null)
  return Object.entries(METRICS).map(([metric, measure]) => {
    const [theirs, others] = [shown(affected, measure), shown(unaffected, measure)]
    return {
      org_id,
      event_date,
      event_name: name,
      team,
      metric,
      before_weeks: completeWeeks(before),
      after_weeks: completeWeeks(after),
      affected_users: affected.users,
      unaffected_users: isForEvery ? null : unaffected.users,
      is_affected_suppressed: affected.users !== null && affected.users < 5,
      is_unaffected_suppressed: !isForEvery && unaffected.users !== null && unaffected.users < 5,
      affected_before: theirs.before,
      affected_after: theirs.after,
      unaffected_before: others.before,
      unaffected_after: others.after,
      affected_change: theirs.change,
      unaffected_change: others.change,
      change_difference:
        theirs.change === null || others.change === null ? null : theirs.change - others.change,
    }
  })
}

function completeWeeks(mondays) {
  return weeks.filter((week) => mondays.includes(week.week_start_date) && week.is_complete_week)
    .length
}

/** The rows of both spans; null for one of which a week is not complete. */
function groupOf(rows, before, after) {
  const [past, present] = [before, after].map((mondays) => spanOf(rows, mondays))
  const counts = [past, present].flatMap((span) => (span === null ? [] : [span.users]))
  return { past, present, users: counts.length === 0 ? null : Math.min(...counts) }
}

function spanOf(rows, mondays) {
  if (completeWeeks(mondays) < 4) return null
  const own = rows.filter((row) => mondays.includes(monday(row.activity_date)))
  const userWeeks = unique(own.map((row) => `${row.user_id} ${monday(row.activity_date)}`)).length
  return { rows: own, userWeeks, users: unique(own.map(({ user_id }) => user_id)).length }
}

function shown({ past, present, users }, measure) {
  const value = (span) => (span === null || users < 5 ? null : measure(span))
  const [before, after] = [value(past), value(present)]
  const isCompared = before !== null && after !== null && before !== 0
  return { before, after, change: isCompared ? after / before - 1 : null }
}
