// The rows of the marts of limits, of readiness, and of how sessions ended.
import { creditsText, groupBy, sum, unique } from './reading.mjs'
import { hookEvents, org_id, readinessReports, sessions, UNATTRIBUTED, usageLimits } from './served.mjs'
import { isAnswered, later } from './weeks.mjs'

export function entityMarts(made) {
  return {
    mart_limit_usage: limitUsage(made),
    mart_readiness_trend: readinessTrend(),
    mart_session_outcomes: sessionOutcomes(),
  }
}

export function limitUsage({ fct_user_day, dim_user }) {
  const people = fct_user_day.filter(({ user_id }) => user_id !== UNATTRIBUTED)
  const byUser = groupBy(people, (row) => `${row.activity_date.slice(0, 7)} ${row.user_id}`)
  return [...byUser.values()].map((rows) => {
    const [{ user_id, activity_date }] = rows
    const month = activity_date.slice(0, 7)
    const dates = Array.from({ length: 31 }, (_, n) => later(`${month}-01`, n)).filter((day) =>
      day.startsWith(month),
    )
    const known_days = dates.filter((day) => isAnswered('users', day)).length
    const last = rows
      .filter(({ user_email }) => user_email !== null)
      .sort((a, b) => (a.activity_date < b.activity_date ? -1 : 1))
      .at(-1)
    const member = dim_user.find((each) => each.user_id === user_id)
    const user_email = (last?.user_email ?? member.user_email)?.trim().toLowerCase() ?? null
    const billable_tokens = sum(rows.map((row) => row.billable_tokens))
    const forecast = projected(billable_tokens, dates.length, known_days)
    return {
      org_id,
      month_start_date: `${month}-01`,
      user_id,
      user_email,
      user_label: user_email ?? user_id,
      billable_tokens,
      known_days,
      days_in_month: dates.length,
      forecast_billable_tokens: forecast,
      ...comparedWith(limitsIn(month), user_email, billable_tokens, forecast),
    }
  })
}

function projected(credits, days, known) {
  if (credits === null) return null
  return BigInt(Math.round(((Number(creditsText(credits)) * days) / known) * 1e6))
}

/** The limits of the last night of a month on which they were seen. */
function limitsIn(month) {
  return usageLimits.findLast(({ fetched }) => fetched.startsWith(month))
}

function comparedWith(limits, email, credits, forecast) {
  const own = limits?.userLimits.findLast((each) => each.email.trim().toLowerCase() === email)
  const ownLimit = own?.limit ?? null
  const isKnown = limits !== undefined
  const limit = ownLimit ?? limits?.globalLimit ?? null
  const exceeds = (some) => {
    if (limit === null) return isKnown ? false : null
    return some === null ? null : Number(some) / 1e6 > limit
  }
  return {
    limit_date: limits?.fetched ?? null,
    is_limit_known: isKnown,
    limit_scope: isKnown ? (ownLimit === null ? 'global' : 'user') : null,
    effective_limit: limit === null ? null : BigInt(limit),
    share_of_limit: limit && credits !== null ? Number(credits) / 1e6 / limit : null,
    is_exceeded: exceeds(credits),
    will_exceed: exceeds(forecast),
  }
}

/** A skipped criterion has no numerator. */
function readinessTrend() {
  const evaluations = readinessReports.flatMap(({ repoUrl, createdAt, report }) =>
    Object.entries(report).map(([criterion_id, { numerator, denominator }]) => ({
      repo_url: repoUrl ?? null,
      criterion_id,
      report_date: dayOf(createdAt),
      numerator: numerator ?? null,
      denominator: denominator ?? null,
    })),
  )
  const keyOf = (row) => JSON.stringify([row.repo_url, row.criterion_id, row.report_date])
  return [...groupBy(evaluations, keyOf).values()].map((rows) => {
    const { repo_url, criterion_id, report_date } = rows[0]
    const run = rows.filter(({ numerator }) => numerator !== null)
    const whole = run.filter(({ denominator }) => denominator !== null)
    const passing = sumOf(whole.map(({ numerator }) => numerator))
    const evaluated = sumOf(whole.map(({ denominator }) => denominator))
    return {
      org_id,
      repo_url,
      criterion_id,
      report_date,
      reports: rows.length,
      skipped_reports: rows.length - run.length,
      passed_reports: whole.filter((row) => row.numerator === row.denominator).length,
      passing,
      evaluated,
      pass_rate: evaluated ? passing / evaluated : null,
    }
  })
}

/** Sessions that were fetched or whose end was recorded, each once. */
function sessionOutcomes() {
  const ends = hookEvents.filter(
    ({ input }) => input.hook_event_name === 'SessionEnd' && input.session_id !== undefined,
  )
  const ids = unique([...sessions, ...ends.map(({ input }) => ({ sessionId: input.session_id }))]
    .map(({ sessionId }) => sessionId))
  const outcomes = ids.map((id) => {
    const session = sessions.find(({ sessionId }) => sessionId === id)
    const end = ends
      .filter(({ input }) => input.session_id === id)
      .sort((a, b) => timeOf(a) - timeOf(b))
      .at(-1)
    const reason = end?.input.reason
    return {
      session,
      outcome_date: dayOf(end?.recorded_at ?? session?.completedAt ?? session?.updatedAt),
      end_reason: end === undefined ? '(not recorded)' : (reason ?? '(none given)'),
      is_failure: reason === undefined ? null : ['error', 'other'].includes(reason),
    }
  })
  const keyOf = ({ session, ...outcome }) => JSON.stringify(outcome)
  return [...groupBy(outcomes, keyOf).values()].map((rows) => {
    const { session: _, ...outcome } = rows[0]
    const fetched = rows.flatMap(({ session }) => session ?? [])
    const settings = fetched.map(({ sessionSettings }) => sessionSettings)
    const credits = sumOf(settings.map((each) => each.tokenUsage?.serviceCredits ?? null))
    return {
      org_id,
      ...outcome,
      sessions: rows.length,
      fetched_sessions: fetched.length,
      messages: sumOf(fetched.map(({ messageCount }) => messageCount ?? null)),
      assistant_active_ms: sumOf(settings.map((each) => each.assistantActiveTimeMs ?? null)),
      service_credits: credits === null ? null : BigInt(credits * 1e6),
    }
  })
}

/** An end whose time is not known comes before the others. */
function timeOf({ recorded_at }) {
  return recorded_at === undefined ? -Infinity : Date.parse(recorded_at)
}

function dayOf(time) {
  return time === undefined ? null : new Date(time).toISOString().slice(0, 10)
}

function sumOf(values) {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0)
}
