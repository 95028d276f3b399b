import type { Organisation, Period } from './data.ts'
import { totals, type View } from './view.ts'
import { amount, change, counted, dayText, percent } from './words.ts'

/** A figure of the chosen period beside the one before it. */
export interface Headline {
  readonly label: string
  readonly value: string
  /** `up 12%`; null where there is no whole period before. */
  readonly change: string | null
}

export function headlines(view: View): Headline[] {
  const { now, before } = totals(view)
  const perPerson = (period: Period | undefined): number | null =>
    ratio(period?.billable_tokens, period?.active_users)
  const autonomy = (period: Period | undefined): number | null =>
    ratio(period?.tool_calls, period?.user_messages)
  const figures: [string, (period: Period | undefined) => number | null][] = [
    ['Active people', (period) => period?.active_users ?? null],
    ['Credits', (period) => period?.billable_tokens ?? null],
    ['Credits a person', perPerson],
    ['Sessions', (period) => period?.sessions ?? null],
    ['Tool calls a message', autonomy],
    ['Commits', (period) => period?.git_commits ?? null],
    ['Pull requests', (period) => period?.git_prs_created ?? null],
    ['Files', (period) => period?.files ?? null],
  ]
  return figures.map(([label, of]) => ({
    label,
    value: amount(of(now)),
    change: change(of(now), of(before)),
  }))
}

function ratio(above: number | null | undefined, below: number | null | undefined): number | null {
  return typeof above !== 'number' || typeof below !== 'number' || below === 0
    ? null
    : above / below
}

/** Whether the numbers can be trusted today, and what is missing. */
export interface Trust {
  readonly level: 'good' | 'provisional' | 'bad'
  readonly verdict: string
  readonly notes: readonly string[]
}

export function trust(organisation: Organisation): Trust {
  const { data_through: through, last_day: last, sessions_known_share: sessions } = organisation
  const isBad = organisation.verdict === 'incomplete' || through === null
  const isGood = organisation.verdict === 'complete'
  const until = through === null ? 'No day is complete yet' : `Complete to ${dayText(through)}`
  const notes = [
    last !== null && through !== null && last > through
      ? `later days to ${dayText(last)} are only partly here`
      : null,
    some(organisation.missing_days, 'day is missing', 'days are missing'),
    some(organisation.failed_days, 'day failed', 'days failed'),
    some(organisation.residual_checks_failed, 'sum does not add up', 'sums do not add up'),
    some(organisation.restatements_28d, 'value was', 'values were', ' restated in 28 days'),
    some(organisation.drift_findings, 'field was', 'fields were', ' not served as documented'),
    sessions !== null && sessions < 0.995 ? `${percent(sessions)} of sessions are known` : null,
  ]
  return {
    level: isBad ? 'bad' : isGood ? 'good' : 'provisional',
    verdict: until,
    notes: notes.filter((note) => note !== null),
  }
}

function some(count: number, one: string, many: string, then = ''): string | null {
  return count === 0 ? null : `${counted(count, one, many)}${then}`
}
