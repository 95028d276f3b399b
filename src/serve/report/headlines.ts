import type { Organisation, Period, Source } from './data.ts'
import { changeText, ratio, totals, type View } from './view.ts'
import { amount, counted, dayText, missingText, percent } from './words.ts'

/** What a figure is called, what explains it, whose days it adds up, and its value. */
type Figure = readonly [
  label: string,
  /** A metric of `metrics.yml`, or how it is computed. */
  about: { readonly metric: string } | { readonly how: string },
  sources: readonly Source[],
  of: (period: Period) => number | null,
]

const FIGURES: readonly Figure[] = [
  ['Active people', { metric: 'active_users' }, ['users'], (period) => period.active_users],
  [
    'Credits',
    { metric: 'credits' },
    ['tokens', 'billable_tokens'],
    (period) => period.billable_tokens,
  ],
  [
    'Credits per person',
    { how: 'All credits of the period divided by its active people.' },
    ['tokens', 'billable_tokens', 'users'],
    (period) => ratio(period.billable_tokens, period.active_users),
  ],
  ['Sessions', { metric: 'sessions' }, ['activity', 'sessions'], (period) => period.sessions],
  [
    'Tool calls per message',
    { metric: 'autonomy_ratio' },
    ['tools', 'tool_calls', 'activity', 'user_messages'],
    (period) => ratio(period.tool_calls, period.user_messages),
  ],
  [
    'Commits',
    { metric: 'git_commits' },
    ['productivity', 'git_commits'],
    (period) => period.git_commits,
  ],
  [
    'Pull requests',
    { metric: 'git_prs_created' },
    ['productivity', 'git_prs_created'],
    (of) => of.git_prs_created,
  ],
  [
    'Files',
    { how: 'Files created and files edited by agents, added up.' },
    ['productivity', 'files'],
    (period) => period.files,
  ],
]

export type Headline = Readonly<ReturnType<typeof headlines>[number]>

/** The figures of the chosen period, compared with the other period. */
export function headlines(view: View) {
  const { now, before } = totals(view)
  return FIGURES.map(([label, about, sources, of]) => {
    const [value, previous] = [now, before].map((period) => (period ? of(period) : null))
    return {
      label,
      about,
      value: amount(value),
      /** `up 12% from 268`, or why there is no number; null if nothing is compared or missing. */
      change: changeText(view, sources, value ?? null, previous),
    }
  })
}

/** Whether the numbers can be trusted today, and what is missing. */
export function trust(organisation: Organisation) {
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
      ? `later days to ${dayText(last)} are incomplete`
      : null,
    missingText(organisation.missing_days),
    some(organisation.failed_days, 'day failed', 'days failed'),
    some(organisation.residual_checks_failed, 'sum does not add up', 'sums do not add up'),
    some(organisation.restatements_28d, 'restatement', 'restatements', ' in 28 days'),
    some(organisation.drift_findings, 'field was', 'fields were', ' not served as documented'),
    sessions !== null && sessions < 0.995
      ? `details are known for ${percent(sessions)} of sessions`
      : null,
    organisation.has_more_sessions ? 'the platform counts fewer sessions than were fetched' : null,
  ]
  const level: 'good' | 'provisional' | 'bad' = isBad ? 'bad' : isGood ? 'good' : 'provisional'
  return {
    level,
    verdict: until,
    notes: notes.filter((note) => note !== null),
  }
}

function some(count: number, one: string, many: string, then = ''): string | null {
  return count === 0 ? null : `${counted(count, one, many)}${then}`
}
