// The rows of the marts of active people and of the last 28 days, given those of facts and dimensions.
import { sum } from './reading.mjs'
import { org_id, rowsOf, UNATTRIBUTED } from './served.mjs'
import { isAnswered, lastDayOfUsers, later } from './weeks.mjs'

export function usageMarts(made) {
  return {
    mart_active_users: made.fct_org_day.flatMap((row) => activeUsers(row, made)),
    mart_user_28d: users28(made),
  }
}

function activeUsers(row, { fct_org_day }) {
  const { activity_date, daily_active_users, weekly_active_users, monthly_active_users } = row
  const own = { daily_active_users, weekly_active_users, monthly_active_users }
  if (Object.values(own).every((users) => users === null)) return []
  const last = (count) => {
    const daily = Array.from({ length: count }, (_, n) => later(activity_date, -n))
      .map((day) => usersOf(day, fct_org_day))
      .filter((users) => users !== null)
    return { all: sum(daily), days: daily.length }
  }
  const [week, month] = [last(7), last(30)]
  const stickiness = ({ all, days }, users) =>
    all === null || users === null || days === 0 || users === 0n
      ? null
      : Number(all) / (days * Number(users))
  return [
    {
      org_id,
      activity_date,
      ...own,
      user_days_7d: week.all,
      days_known_7d: week.days,
      user_days_30d: month.all,
      days_known_30d: month.days,
      stickiness_7d: stickiness(week, weekly_active_users),
      stickiness_30d: stickiness(month, monthly_active_users),
    },
  ]
}

/** The users of a day: none if it was answered without rows, null if they are not known. */
function usersOf(day, fct_org_day) {
  const row = fct_org_day.find(({ activity_date }) => activity_date === day)
  const isEmpty = isAnswered('activity', day) && rowsOf('activity', day).length === 0
  return row?.daily_active_users ?? (isEmpty ? 0n : null)
}

function users28({ dim_user, fct_user_day }) {
  const as_of_date = lastDayOfUsers()
  return dim_user
    .filter(({ user_id }) => user_id !== UNATTRIBUTED)
    .map(({ user_id, user_email, user_label, last_active_date }) => {
      const rows = fct_user_day.filter(
        (row) => row.user_id === user_id && row.activity_date > later(as_of_date, -28),
      )
      const active = rows.filter(({ is_active }) => is_active).length
      const of = (name) => sum(rows.map((row) => row[name]))
      return {
        org_id,
        user_id,
        user_email,
        user_label,
        as_of_date,
        last_active_date,
        active_days_28d: active,
        usage_group: active >= 12 ? 'heavy' : active >= 4 ? 'moderate' : active ? 'light' : 'idle',
        sessions_28d: of('sessions'),
        tool_calls_28d: of('tool_calls'),
        user_messages_28d: of('user_messages'),
        billable_tokens_28d: of('billable_tokens'),
      }
    })
}
