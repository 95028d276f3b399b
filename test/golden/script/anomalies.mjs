// The days on which credits were far from what is usual: each day is looked up on its
// own, where the models join all of them.
import { unique } from './reading.mjs'
import { UNATTRIBUTED, org_id } from './served.mjs'
import { later } from './weeks.mjs'

/** Of a normal distribution, in median deviations. */
const DEVIATION = 1.4826

export function anomalies({ fct_user_day, fct_org_day, dim_date }) {
  const users = fct_user_day.filter(({ user_id }) => user_id !== UNATTRIBUTED)
  const credits = new Map(
    [...users, ...fct_org_day]
      .filter(({ billable_tokens }) => billable_tokens !== null && billable_tokens > 0n)
      .map((row) => [`${row.user_id ?? ''} ${row.activity_date}`, row.billable_tokens]),
  )
  const logOf = (user, day) => {
    const consumed = credits.get(`${user} ${day}`)
    return consumed === undefined ? [] : [Math.log(1 + Number(consumed) / 1e6)]
  }
  const active = new Map(fct_org_day.map((day) => [day.activity_date, day.daily_active_users]))
  const last = dim_date.map(({ activity_date }) => activity_date).sort().at(-1)
  const judged = ['', ...unique(users.map(({ user_id }) => user_id))].flatMap((user) =>
    Array.from({ length: 28 }, (_, back) => later(last, -back)).flatMap((day) => {
      const before = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => later(day, -7 * n))
      const days = before.filter((each) => credits.has(`${user} ${each}`))
      const history = days.flatMap((each) => logOf(user, each))
      if (history.length < 4) return []
      if (user === '' && median(days.map((each) => Number(active.get(each) ?? 0))) <= 5) return []
      return logOf(user, day).map((log) => {
        const usual = median(history)
        const farthest = Math.max(...history.map((each) => Math.sign(log - usual) * (each - usual)))
        const values = days.map((each) => credits.get(`${user} ${each}`))
        return { user, day, usual, deviation: log - usual, farthest, values }
      })
    }),
  )
  const ofUsers = judged.filter(({ user }) => user !== '').map(({ deviation }) => deviation)
  return judged.flatMap((each) => {
    const { user, day, usual, deviation, farthest, values } = each
    const own = judged.filter((other) => other.user === user)
    const tail = deviation > 0 ? quantile(ofUsers, 0.95) : -quantile(ofUsers, 0.05)
    const spread = Math.max(
      own.length < 4 ? 0 : spreadOf(own),
      user === '' ? 0 : tail / 1.645,
      0.25,
    )
    const score = deviation / spread
    const peers_score = user === '' ? null : against(judged, day, deviation)
    const isFar = peers_score === null || peers_score * Math.sign(score) >= 3
    const isFarthest = Math.abs(deviation) >= 2 * farthest
    if (user !== '' && ofUsers.length < 15) return []
    if (!isFarthest || (score < 3.5 && score > -4.75) || !isFar) return []
    return [
      {
        org_id,
        activity_date: day,
        scope: user === '' ? 'org' : 'user',
        user_id: user === '' ? null : user,
        metric: 'billable_tokens',
        value: credits.get(`${user} ${day}`),
        expected: Math.exp(usual) - 1,
        usual_low: values.reduce((a, b) => (a < b ? a : b)),
        usual_high: values.reduce((a, b) => (a > b ? a : b)),
        score,
        peers_score,
      },
    ]
  })
}

function against(judged, day, deviation) {
  const peers = judged
    .filter((other) => other.user !== '' && other.day === day)
    .map((other) => other.deviation)
  if (peers.length <= 5) return null
  const middle = median(peers)
  const spread = spreadOf(peers.map((each) => ({ deviation: each - middle })))
  return (deviation - middle) / Math.max(spread, 0.25)
}

function spreadOf(judged) {
  return DEVIATION * median(judged.map(({ deviation }) => Math.abs(deviation)))
}

function median(values) {
  return quantile(values, 0.5)
}

/** Between two values, in proportion. */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)]
  return below + (place - Math.floor(place)) * (sorted[Math.ceil(place)] - below)
}
