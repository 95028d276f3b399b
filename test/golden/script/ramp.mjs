// How users begin, user by user and day by day from their first active one.
import { sum } from './reading.mjs'
import { UNATTRIBUTED, org_id } from './served.mjs'
import { isWholeDay, lastDay, lastDayOfUsers, later, monday, weeks } from './weeks.mjs'

const METRICS = ['active_days', 'tool_calls', 'billable_tokens']

export function rampMarts({ dim_user, fct_user_day }) {
  const begun = dim_user.filter(
    ({ user_id, first_active_date }) => user_id !== UNATTRIBUTED && first_active_date !== null,
  )
  const rowsOf = (user) =>
    fct_user_day.filter((row) => row.user_id === user && row.is_active).sort(byDay)
  const members = begun.map((member) => memberRow(member, rowsOf(member.user_id)))
  return {
    mart_ramp: members,
    mart_ramp_week: rampWeeks(
      members.filter(({ is_left_edge }) => !is_left_edge),
      rowsOf,
    ),
  }
}

function byDay(a, b) {
  return a.activity_date < b.activity_date ? -1 : 1
}

function memberRow({ user_id, user_label, first_active_date }, rows) {
  const cohort_week = monday(first_active_date)
  const { is_left_edge } = weeks.find((week) => week.week_start_date === cohort_week)
  const daysTo = (isReached) => {
    const day = rows.find(isReached)?.activity_date
    return is_left_edge || day === undefined ? null : daysApart(first_active_date, day)
  }
  return {
    org_id,
    user_id,
    user_label,
    cohort_week,
    first_active_date,
    is_left_edge,
    known_days: daysApart(first_active_date, lastDayOfUsers()) + 1,
    days_to_first_commit: daysTo(({ git_commits }) => git_commits > 0n),
    days_to_first_pr: daysTo(({ git_prs_created }) => git_prs_created > 0n),
    days_to_first_auto_high: daysTo(
      (row) => row.delegation_level === 'auto-high' && row.tool_calls > 0n,
    ),
  }
}

function daysApart(first, last) {
  let days = 0
  for (let day = first; day < last; day = later(day, 1)) days += 1
  return days
}

function rampWeeks(members, rowsOf) {
  const rows = members.flatMap(({ user_id, cohort_week, first_active_date }) =>
    [1, 2, 3, 4].map((week_number) => {
      const days = [0, 1, 2, 3, 4, 5, 6].map((n) =>
        later(first_active_date, 7 * (week_number - 1) + n),
      )
      const is_complete_week = days.every((day) => day <= lastDay && isWholeDay(day))
      const own = rowsOf(user_id).filter(({ activity_date }) => days.includes(activity_date))
      const measured = (name) => (own.length === 0 ? 0n : sum(own.map((row) => row[name])))
      const known = (value) => (is_complete_week ? value : null)
      return {
        org_id,
        cohort_week,
        user_id,
        week_number,
        week_first_date: days[0],
        is_complete_week,
        active_days: known(BigInt(own.length)),
        tool_calls: known(measured('tool_calls')),
        billable_tokens: known(measured('billable_tokens')),
      }
    }),
  )
  return rows.map((row) => {
    const others = rows.filter(
      (each) =>
        each.cohort_week === row.cohort_week &&
        each.week_number === row.week_number &&
        each.is_complete_week,
    )
    const means = METRICS.map((name) => {
      const values = others.map((each) => each[name]).filter((value) => value !== null)
      const unit = name === 'billable_tokens' ? 1e6 : 1
      const mean = Number(sum(values) ?? 0n) / unit / values.length
      return [`${name}_of_cohort_avg`, values.length === 0 ? null : mean]
    })
    return { ...row, cohort_users: others.length, ...Object.fromEntries(means) }
  })
}
