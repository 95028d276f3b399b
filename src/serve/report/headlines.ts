import { changeText } from './compare.ts'
import type { Organisation, Period, Resource } from './data.ts'
import { totals, type View } from './view.ts'
import { amount, counted, dayText, missingText, percent } from './words.ts'

/** A figure of the chosen period, compared with the other period. */
export interface Headline {
  readonly label: string
  /** Its metric in `metrics.yml`; null: `how` explains it. */
  readonly metric: string | null
  readonly how: string | null
  readonly value: string
  /** `up 12% from 268`, or why there is no number; null if nothing is compared. */
  readonly change: string | null
}

export function headlines(view: View): Headline[] {
  const { now, before } = totals(view)
  const figures: Figure[] = [
    {
      label: 'Active people',
      metric: 'active_users',
      resources: ['users'],
      of: (period) => period.active_users,
    },
    {
      label: 'Credits',
      metric: 'credits',
      resources: ['tokens'],
      of: (period) => period.billable_tokens,
    },
    {
      label: 'Credits a person',
      how: 'All credits of the period divided by its active people.',
      resources: ['tokens', 'users'],
      of: (period) => ratio(period.billable_tokens, period.active_users),
    },
    {
      label: 'Sessions',
      metric: 'sessions',
      resources: ['activity'],
      of: (period) => period.sessions,
    },
    {
      label: 'Tool calls a message',
      metric: 'autonomy_ratio',
      resources: ['tools', 'activity'],
      of: (period) => ratio(period.tool_calls, period.user_messages),
    },
    {
      label: 'Commits',
      metric: 'git_commits',
      resources: ['productivity'],
      of: (period) => period.git_commits,
    },
    {
      label: 'Pull requests',
      metric: 'git_prs_created',
      resources: ['productivity'],
      of: (period) => period.git_prs_created,
    },
    {
      label: 'Files',
      how: 'Files created and files edited by agents, added up.',
      resources: ['productivity'],
      of: (period) => period.files,
    },
  ]
  return figures.map(({ label, metric = null, how = null, resources, of }) => {
    const [value, previous] = [now, before].map((period) => (period ? of(period) : null))
    return {
      label,
      metric,
      how,
      value: amount(value),
      change: changeText(view, resources, value ?? null, previous),
    }
  })
}

interface Figure {
  readonly label: string
  readonly metric?: string
  readonly how?: string
  /** Whose days it adds up. */
  readonly resources: readonly Resource[]
  readonly of: (period: Period) => number | null
}

function ratio(above: number | null, below: number | null): number | null {
  return above === null || below === null || below === 0 ? null : above / below
}

/** Whether the numbers can be trusted today, and what is missing. */
interface Trust {
  readonly level: 'good' | 'provisional' | 'bad'
  readonly verdict: string
  readonly notes: readonly string[]
}

export function trust(organisation: Organisation): Trust {
  const { data_through: through, last_day: last, sessions_known_share: sessions } = organisation
  const isBad = organisation.verdict === 'incomplete' || through === null
  const isGood = organisation.verdict === 'complete'
  const hasGaps = organisation.missing_days + organisation.failed_days > 0
  const until =
    through === null
      ? 'No day is complete yet'
      : `${hasGaps ? 'Data' : 'Complete'} to ${dayText(through)}`
  const notes = [
    last !== null && through !== null && last > through
      ? `later days to ${dayText(last)} are only partly here`
      : null,
    missingText(organisation.missing_days),
    some(organisation.failed_days, 'day failed', 'days failed'),
    some(organisation.residual_checks_failed, 'sum does not add up', 'sums do not add up'),
    some(organisation.restatements_28d, 'restatement', 'restatements', ' in 28 days'),
    some(organisation.drift_findings, 'field was', 'fields were', ' not served as documented'),
    sessions !== null && sessions < 0.995
      ? `details are known of ${percent(sessions)} of sessions`
      : null,
    organisation.has_more_sessions ? 'the platform counts fewer sessions than were fetched' : null,
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
