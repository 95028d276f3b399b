// The rows of the marts that explain and foresee the credits of a month.
import { groupBy, sum, unique } from './reading.mjs'
import { NOBODY, org_id, rowsOf } from './served.mjs'
import { isAnswered, later } from './weeks.mjs'

export function spendMarts(made) {
  return { mart_spend_bridge: bridge(made) }
}

/** The credits of a day that was answered: none where it has no rows, null where not sent. */
function creditsOf({ fct_org_day }, day) {
  if (!isAnswered('tokens', day)) return null
  if (rowsOf('tokens', day).length === 0) return 0n
  return fct_org_day.find(({ activity_date }) => activity_date === day).billable_tokens
}

function startOfMonthBefore(start) {
  return `${later(start, -1).slice(0, 7)}-01`
}

function bridge(made) {
  const months = unique(made.fct_org_day.map((row) => `${row.activity_date.slice(0, 7)}-01`))
  return months.flatMap((month) => monthBridge(made, month))
}

function monthBridge(made, month_start_date) {
  const before = startOfMonthBefore(month_start_date)
  const numbers = Array.from({ length: 31 }, (_, n) => `-${String(n + 1).padStart(2, '0')}`)
  const dayOf = (start, number) => start.slice(0, 7) + number
  const isKnown = (day) => !Number.isNaN(Date.parse(day)) && later(day, 0) === day
    && creditsOf(made, day) !== null
  const compared = numbers.filter((number) =>
    [month_start_date, before].every((start) => isKnown(dayOf(start, number))),
  )
  if (compared.length === 0) return []
  const [present, past] = [month_start_date, before].map((start) => {
    const days = compared.map((number) => dayOf(start, number))
    return {
      total: sum(days.map((day) => creditsOf(made, day))),
      rows: made.fct_user_model_day.filter(
        (row) => days.includes(row.activity_date) && row.user_id !== NOBODY,
      ),
    }
  })
  const components = split(present.rows, past.rows)
  const difference = present.total - past.total
  components.push(['(unattributed)', difference - sum(components.map((each) => each[1])), null])
  return components.map(([component, billable_tokens_change, component_users], place) => ({
    org_id,
    month_start_date,
    component,
    component_order: place + 1,
    billable_tokens_change,
    component_users,
    billable_tokens: present.total,
    previous_billable_tokens: past.total,
    compared_days: compared.length,
  }))
}

const creditsIn = (rows) => sum([0n, ...rows.map((row) => row.billable_tokens)])
const tokensIn = (rows) => sum([0n, ...rows.flatMap((row) => [row.input_tokens, row.output_tokens])])

function split(present, past) {
  const of = (rows, name, value) => rows.filter((row) => row[name] === value)
  const users = unique([...present, ...past].map(({ user_id }) => user_id)).map((user) => ({
    user,
    now: creditsIn(of(present, 'user_id', user)),
    then: creditsIn(of(past, 'user_id', user)),
  }))
  const joined = users.filter(({ now, then }) => now !== 0n && then === 0n)
  const left = users.filter(({ now, then }) => now === 0n && then !== 0n)
  const stayed = users.filter(({ now, then }) => now !== 0n && then !== 0n)
  const isStayed = ({ user_id }) => stayed.some(({ user }) => user === user_id)
  const [rows, pastRows] = [present, past].map((all) => all.filter(isStayed))
  const models = unique([...rows, ...pastRows].map(({ model_id }) => model_id))
    .filter((model) => model !== NOBODY)
    .map((model) => [of(rows, 'model_id', model), of(pastRows, 'model_id', model)])
    .filter((sides) => sides.every(isRated))
  const now = models.flatMap(([side]) => side)
  const then = models.flatMap(([, side]) => side)
  const isSplit = tokensIn(then) > 0n
  const atMean = isSplit ? scaled(creditsIn(then), tokensIn(now), tokensIn(then)) : 0n
  const atOwn = models.map(([side, pastSide]) =>
    tokensIn(pastSide) === 0n
      ? creditsIn(side)
      : scaled(creditsIn(pastSide), tokensIn(side), tokensIn(pastSide)),
  )
  const change = (group) => sum([0n, ...group.map((each) => each.now - each.then)])
  const when = (amount) => (isSplit ? amount : 0n)
  return [
    ['joined_users', change(joined), joined.length],
    ['left_users', change(left), left.length],
    ['volume', when(atMean - creditsIn(then)), stayed.length],
    ['model_mix', when(sum([0n, ...atOwn]) - atMean), stayed.length],
    ['rate', when(creditsIn(now) - sum([0n, ...atOwn])), stayed.length],
  ]
}

/** Whether the tokens behind the credits are known, and are not none. */
function isRated(rows) {
  const isKnown = rows.every(
    (row) => !row.billable_tokens || (row.input_tokens !== null && row.output_tokens !== null),
  )
  return isKnown && (creditsIn(rows) === 0n || tokensIn(rows) > 0n)
}

/** Millionths of credits times a fraction, to the hundredth of a credit. */
function scaled(credits, by, of) {
  const hundredths = credits * by * 2n + of * 10_000n
  return (hundredths / (of * 20_000n)) * 10_000n
}
