// The rows of the marts that explain and foresee the credits of a month.
import { limitUsage } from './entity-marts.mjs'
import { groupBy, sum, unique } from './reading.mjs'
import { UNATTRIBUTED, org_id, rowsOf } from './served.mjs'
import { spendMonths } from './spend-month.mjs'
import { isAnswered, lastDay, later } from './weeks.mjs'

export function spendMarts(made) {
  return {
    mart_spend_bridge: bridge(made),
    mart_budget_forecast: forecasts(made),
    mart_spend_month: spendMonths(made),
  }
}

/** The credits of a day that was answered: none where it has no rows, null where not sent. */
export function creditsOf({ fct_org_day }, day) {
  if (!isAnswered('tokens', day)) return null
  if (rowsOf('tokens', day).length === 0) return 0n
  return fct_org_day.find(({ activity_date }) => activity_date === day).billable_tokens
}

export function startOfMonthBefore(start) {
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
        (row) => days.includes(row.activity_date) && row.user_id !== UNATTRIBUTED,
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
    .filter((model) => model !== UNATTRIBUTED)
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

const FIRST_DAY = '2026-01-14'
const WEEKS = 2
const LEAST_SPANS = 42

function forecasts(made) {
  const all = []
  for (let day = FIRST_DAY; day <= lastDay; day = later(day, 1)) all.push(day)
  const known = new Map(all.map((day) => [day, creditsOf(made, day)]))
  const past = all.filter((day) => known.get(day) !== null)
  const limitOf = creditLimits(made)
  return past.map((day) => {
    const credit_limit = limitOf(`${day.slice(0, 7)}-01`)
    return { ...forecast(day, known, past, credit_limit), credit_limit }
  })
}

/**
 * The limits of the users of a month together, where each of them has one, with those of the month
 * before who are not seen in it.
 */
function creditLimits(made) {
  const months = groupBy(limitUsage(made), (row) => row.month_start_date)
  return (month) => {
    const own = months.get(month) ?? []
    const isOwn = (row) => own.some(({ user_id }) => user_id === row.user_id)
    const others = (months.get(startOfMonthBefore(month)) ?? []).filter((row) => !isOwn(row))
    const [limits, added] = [own, others].map((rows) => rows.map((row) => row.effective_limit))
    return limits.includes(null) ? null : sum([...limits, ...added])
  }
}

/** Credits, as numbers, or what the same weekday of the weeks before was; null for neither. */
function filledOf(known) {
  return (day) => {
    const credits = known.get(day) ?? null
    return credits === null ? usual(day, known) : Number(credits) / 1e6
  }
}

function usual(day, known) {
  const weeks = Array.from({ length: WEEKS }, (_, n) => known.get(later(day, -7 * (n + 1))) ?? null)
  const before = weeks.filter((credits) => credits !== null)
  if (before.length === 0) return null
  return Math.round(Number(sum(before)) / before.length / 1e4) / 100
}

function addUp(values) {
  return values.includes(null) ? null : values.reduce((a, b) => a + b, 0)
}

/** What the days after one were expected to be, day by day: the first week again and again. */
function expected(day, count, known) {
  const week = Array.from({ length: 7 }, (_, n) => usual(later(day, n + 1), known))
  if (week.includes(null)) return null
  return addUp(Array.from({ length: count }, (_, n) => week[n % 7]))
}

function forecast(day, known, past, limit) {
  const filled = filledOf(known)
  const month = `${day.slice(0, 7)}-01`
  const days_in_month = new Date(Date.UTC(day.slice(0, 4), day.slice(5, 7), 0)).getUTCDate()
  const monthDays = Array.from({ length: days_in_month }, (_, n) => later(month, n))
  const days_left = monthDays.filter((each) => each > day).length
  const soFar = addUp(monthDays.filter((each) => each <= day).map(filled))
  const ratios = spansBefore(day, days_left, known, filled)
  const kept = Math.max(0, Math.floor((ratios.length - 2 * days_left) / 10))
  const half = (ratios.length - 1) / 2
  const median = (ratios[Math.floor(half)] + ratios[Math.ceil(half)]) / 2
  const ahead = expected(day, days_left, known)
  const isKnown = soFar !== null && ahead !== null && ratios.length >= LEAST_SPANS
  const totalBy = (ratio) => {
    if (days_left === 0) return soFar
    return isKnown ? Math.round((soFar + Math.round(ahead * ratio * 100) / 100) * 1e6) / 1e6 : null
  }
  const [p10, p50, p90] = [ratios[kept], median, ratios.at(-1 - kept)].map(totalBy)
  const knownDays = monthDays.filter((each) => each <= day && past.includes(each))
  const credits = sum(knownDays.map((each) => known.get(each)))
  const actual = wholeMonth(month, known)
  const before = wholeMonth(startOfMonthBefore(month), known)
  const line =
    Math.round((Number(credits) / 1e4) * (days_in_month / knownDays.length)) / 100
  const sums = past
    .filter((each) => each >= month && each <= day)
    .map((each) => [each, addUp(monthDays.filter((other) => other <= each).map(filled))])
  if (p50 !== null) {
    for (let n = 1; n <= days_left; n += 1) {
      const more = Math.round(expected(day, n, known) * median * 100) / 100
      sums.push([later(day, n), soFar + more])
    }
  }
  const exhausted = sums.find(([, credits]) => credits !== null && limit !== null && credits >= limit)
  const isJudged = days_left > 0 && p50 !== null && actual !== null
  const error = (value) =>
    isJudged && value !== null ? Math.abs(value - actual) / actual : null
  return {
    org_id,
    month_start_date: month,
    as_of_date: day,
    days_left,
    known_days: knownDays.length,
    days_in_month,
    month_to_date_billable_tokens: credits,
    forecast_billable_tokens_p10: asCredits(p10),
    forecast_billable_tokens_p50: asCredits(p50),
    forecast_billable_tokens_p90: asCredits(p90),
    past_spans: days_left === 0 ? 0 : ratios.length,
    last_month_billable_tokens: asCredits(before),
    straight_line_billable_tokens: asCredits(line),
    exhaustion_date: exhausted?.[0] ?? null,
    actual_billable_tokens: asCredits(actual),
    is_within_band: isJudged ? actual >= p10 && actual <= p90 : null,
    absolute_percentage_error: error(p50),
    last_month_error: error(before),
    straight_line_error: error(line),
  }
}

/** How many times what was expected the same number of days came to, least first. */
function spansBefore(day, count, known, filled) {
  const ratios = []
  for (let origin = FIRST_DAY; later(origin, count) <= day; origin = later(origin, 1)) {
    const ahead = expected(origin, count, known)
    const came = addUp(Array.from({ length: count }, (_, n) => filled(later(origin, n + 1))))
    if (ahead !== null && ahead > 0 && came !== null) ratios.push(came / ahead)
  }
  return ratios.sort((a, b) => a - b)
}

function wholeMonth(month, known) {
  const days = [...Array(31).keys()]
    .map((n) => later(month, n))
    .filter((day) => day.slice(0, 7) === month.slice(0, 7))
  const credits = days.map((day) => known.get(day) ?? null)
  return credits.includes(null) ? null : Number(sum(credits)) / 1e6
}

function asCredits(value) {
  return value === null ? null : BigInt(Math.round(value * 1e6))
}
