// The rows of `mart_spend_month`: each model, user and team of a month, compared with the same days
// of the month before.
import { groupBy, sum, unique } from './reading.mjs'
import { org_id, SPENDS, UNATTRIBUTED } from './served.mjs'
import { creditsOf, startOfMonthBefore } from './spend-marts.mjs'
import { isAnswered, later } from './weeks.mjs'

export function spendMonths(made) {
  const { fct_model_day, fct_user_model_day, dim_user_history } = made
  const teamOn = ({ user_id, activity_date }) =>
    dim_user_history.findLast((row) => row.user_id === user_id && row.valid_from <= activity_date)
  const dimensions = {
    model: membersOf(fct_model_day, ({ model_id }) => model_id),
    user: membersOf(fct_user_model_day, ({ user_id }) => user_id),
    team: membersOf(fct_user_model_day, (row) =>
      row.user_id === UNATTRIBUTED ? UNATTRIBUTED : (teamOn(row).team ?? '(no team)'),
    ),
  }
  const months = unique(made.fct_org_day.map((row) => `${row.activity_date.slice(0, 7)}-01`))
  return months.flatMap((month) =>
    Object.entries(dimensions).flatMap(([dimension, days]) =>
      monthOf(month, days, made).map((row) => ({ ...row, dimension })),
    ),
  )
}

/** One row per member and day, with the sums of its rows. */
function membersOf(rows, memberOf) {
  return [...groupBy(rows, (row) => JSON.stringify([memberOf(row), row.activity_date])).values()]
    .map((group) => ({
      member: memberOf(group[0]),
      activity_date: group[0].activity_date,
      ...sumsOf(group),
    }))
}

function sumsOf(rows) {
  return Object.fromEntries(SPENDS.map((name) => [name, sum(rows.map((row) => row[name]))]))
}

function monthOf(month_start_date, days, made) {
  const dates = datesOf(month_start_date)
  const before = startOfMonthBefore(month_start_date)
  const pairs = dates
    .map((date) => [date, before.slice(0, 8) + date.slice(8)])
    .filter(([, date]) => datesOf(before).includes(date))
    .filter((pair) => pair.every((date) => creditsOf(made, date) !== null))
  const [compared, previous] = [0, 1].map((side) =>
    days.filter(({ activity_date }) => pairs.some((pair) => pair[side] === activity_date)),
  )
  const own = days.filter(({ activity_date }) => dates.includes(activity_date))
  const all = sum(own.map(({ billable_tokens }) => billable_tokens))
  return unique([...own, ...previous].map(({ member }) => member)).map((member) => {
    const of = (rows) => rows.filter((row) => row.member === member)
    const used = of(own)
    const sums = used.length === 0 ? sumsOfNothing() : sumsOf(used)
    return {
      org_id,
      month_start_date,
      member,
      ...sums,
      share_of_month:
        sums.billable_tokens === null || !all ? null : Number(sums.billable_tokens) / Number(all),
      known_days: dates.filter((date) => isAnswered('tokens', date)).length,
      days_in_month: dates.length,
      compared_days: pairs.length,
      compared_billable_tokens: pairs.length === 0 ? null : wholly(of(compared)),
      previous_billable_tokens: pairs.length === 0 ? null : wholly(of(previous)),
    }
  })
}

function datesOf(month) {
  return Array.from({ length: 31 }, (_, n) => later(month, n)).filter((date) =>
    date.startsWith(month.slice(0, 7)),
  )
}

function sumsOfNothing() {
  return Object.fromEntries(SPENDS.map((name) => [name, 0n]))
}

/** The credits of some days; null if those of one day were not sent. */
function wholly(days) {
  const credits = days.map(({ billable_tokens }) => billable_tokens)
  return credits.includes(null) ? null : sum([0n, ...credits])
}
