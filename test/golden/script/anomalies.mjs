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
  const last = dim_date.map(({ activity_date }) => activity_date).sort().at(-1)
  const judged = ['', ...unique(users.map(({ user_id }) => user_id))].flatMap((user) =>
    Array.from({ length: 28 }, (_, back) => later(last, -back)).flatMap((day) => {
      const history = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => logOf(user, later(day, -7 * n)))
      if (history.length < 4) return []
      return logOf(user, day).map((log) => {
        const usual = median(history)
        return { user, day, usual, deviation: log - usual }
      })
    }),
  )
  return judged.flatMap((each) => {
    const { user, day, usual, deviation } = each
    const own = judged.filter((other) => other.user === user)
    const spread = Math.max(
      own.length < 4 ? 0 : spreadOf(own),
      spreadOf(judged.filter((other) => (other.user === '') === (user === ''))),
      0.3,
    )
    const score = deviation / spread
    const peers_score = user === '' ? null : against(judged, day, deviation)
    const isFar = peers_score === null || peers_score * Math.sign(score) >= 3
    if (Math.abs(score) < 3.75 || !isFar) return []
    return [
      {
        org_id,
        activity_date: day,
        scope: user === '' ? 'org' : 'user',
        user_id: user === '' ? null : user,
        metric: 'billable_tokens',
        value: credits.get(`${user} ${day}`),
        expected: Math.exp(usual) - 1,
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
  return (deviation - middle) / Math.max(spread, 0.3)
}

function spreadOf(judged) {
  return DEVIATION * median(judged.map(({ deviation }) => Math.abs(deviation)))
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
