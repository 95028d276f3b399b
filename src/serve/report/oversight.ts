import { defineChart } from './chart.ts'
import type { Row } from './data.ts'
import { daysAfter, inRangeOrLater, inPeriod, sum, type View } from './view.ts'
import { amount, counted, dayText, listText, nameText, percent } from './words.ts'

/** The number of judged days, and the history that they need: vars of the models. */
const JUDGED_DAYS = 28
const HISTORY_DAYS = 28

/** Whether any day can be judged: four earlier days of the same weekday are known. */
function isJudged({ organisation: { first_day: first, last_day: last } }: View): boolean {
  return first !== null && last !== null && daysAfter(first, HISTORY_DAYS) <= last
}

export function judgedSpan(last: string): [string, string] {
  return [daysAfter(last, 1 - JUDGED_DAYS), daysAfter(last, 1)]
}

const KINDS = {
  org: 'Organisation',
  above: 'People far above usual',
  below: 'People far below usual',
} as const

export const anomalies = defineChart({
  id: 'anomalies',
  about: `Days of the last ${JUDGED_DAYS} on which the credits of the organisation or of a person were far from usual`,
  how: 'A day is compared with the same weekday of the eight weeks before: what lies between their least and most credits is usual. A day of a person is also compared with what all others did that day. A day is flagged if its credits, as a ratio, are at least twice as far from the median of these weeks as any of them, and unusually far for this person or organisation. Days without credits are not judged, and no day is compared with them. If nothing is unusual, at most one in 1,000 days of people is flagged: a flag is a question to ask, not a finding. Credits are shown for the organisation only, not for people.',
  columns: {
    day: 'Day',
    kind: 'Kind',
    flags: 'Flags',
    billable_tokens: 'Credits',
    usual_low: 'Usual from',
    usual_high: 'Usual to',
  },
  empty: (view) =>
    isJudged(view)
      ? `No day of the last ${JUDGED_DAYS} is far from usual`
      : 'There is too little history to say which days are unusual',
  rows: ({ organisation }) =>
    organisation.anomaly_days.map(({ day, scope, is_above, flags, ...credits }) => {
      const kind = scope === 'org' ? KINDS.org : is_above ? KINDS.above : KINDS.below
      return { day, kind, flags, ...credits }
    }),
  finding: (rows) => {
    const org = rows.findLast(({ kind }) => kind === KINDS.org)
    const people = rows.filter(({ kind }) => kind !== KINDS.org)
    const days = sum(people.map(({ flags }) => flags))
    const last = people.at(-1)
    const texts = [
      org && `The organisation ${usedText(org)}`,
      last &&
        `${counted(days, 'day of a person is', 'days of people are')} far from usual (${days === 1 ? '' : 'last on '}${dayText(last.day)})`,
    ]
    return texts.filter((text) => text !== undefined).join('; ')
  },
})

export const anomalyPeople = defineChart({
  id: 'anomaly-people',
  about: 'Days on which the credits of a person were far from usual, the newest first',
  how: 'The score is the distance from what is usual for this person and weekday, as a multiple of the usual distance, on a logarithmic scale; it is negative for fewer credits. A flag is a question to ask, not a finding.',
  columns: {
    day: 'Day',
    person: 'Person',
    billable_tokens: 'Credits',
    usual_low: 'Usual from',
    usual_high: 'Usual to',
    score: 'Score',
  },
  empty: 'No day of a person is far from usual',
  rows: ({ organisation }) => organisation.anomaly_people,
  finding: (rows) => {
    const farthest = [...rows].sort((a, b) => Math.abs(b.score) - Math.abs(a.score))[0]
    if (farthest === undefined) return ''
    return `${nameText(farthest.person)} ${usedText(farthest)}`
  },
})

type Unusual = Omit<Row<'anomaly_days'>, 'scope' | 'is_above' | 'flags'>

/** `used 900 credits on 30 Mar 2026, where 80 to 120 are usual` */
function usedText({ billable_tokens: used, day, usual_low: low, usual_high: high }: Unusual) {
  return `used ${amount(used)} credits on ${dayText(day)}, where ${amount(low)} to ${amount(high)} are usual`
}

const POLICIES: Readonly<Record<string, readonly [one: string, many: string, unit: string]>> = {
  mcp_servers: ['MCP server', 'MCP servers', 'calls'],
  models: ['model', 'models', 'credits'],
  autonomy_level: ['autonomy level', 'autonomy levels', 'tool calls'],
  denied_commands: ['command', 'commands', 'runs of hooks'],
}

const STATES: Readonly<Record<Row<'policy'>['status'], string>> = {
  not_allowed: 'used, not allowed',
  allowed_since: 'allowed now, used before',
  unused: 'allowed, never used',
}

export const policy = defineChart({
  id: 'policy',
  about:
    'Days of the whole history on which something was used that the settings did not allow; and what is allowed and never used',
  how: 'Allow-lists of MCP servers and models, the highest level of autonomy and denied commands, from the history of the enterprise controls. A day is judged by the settings of that day; what any revision of the day allowed counts as allowed, and what is not known is not counted. Only the commands of hooks are known: the platform does not serve those of tool calls.',
  columns: {
    name: 'What',
    state: 'State',
    days: 'Days of use',
    amount: 'Amount',
    unit: 'Unit',
    last: 'Last used so',
    since: 'Rule since',
    changed_by: 'Changed by',
  },
  empty: ({ organisation }) =>
    organisation.last_day === null
      ? 'No use is known'
      : !organisation.are_settings_known
        ? 'It is not known what the settings allow'
        : 'No setting restricts servers, models or autonomy, or all use follows the settings',
  rows: ({ organisation }) =>
    organisation.policy.map((row) => {
      const [one, , unit] = POLICIES[row.policy] ?? [row.policy, '', '']
      return {
        name: `${row.value} (${one})`,
        state: STATES[row.status],
        days: row.forbidden_use_days,
        amount: row.forbidden_amount,
        unit: row.forbidden_amount === null ? null : unit,
        last: row.last_forbidden_use,
        since: row.since,
        changed_by: row.changed_by,
      }
    }),
  finding: (_, view) => {
    const rows = view.organisation.policy
    const used = inRangeOrLater(view, rows, (row) => row.last_forbidden_use ?? '')
    const unused = rows.filter(({ status }) => status === 'unused')
    const found =
      used.length === 0
        ? `Nothing was used ${inPeriod(view)} without being allowed`
        : `${kinds(used)} ${used.length === 1 ? 'was' : 'were'} used ${inPeriod(view)} without being allowed`
    const wereUnused = unused.length === 1 ? 'is allowed and was' : 'are allowed and were'
    return unused.length === 0 ? found : `${found}; ${kinds(unused)} ${wereUnused} never used`
  },
})

/** `2 models and 3 MCP servers` */
function kinds(rows: readonly Row<'policy'>[]): string {
  const texts = Object.entries(POLICIES).flatMap(([name, [one, many]]) => {
    const own = rows.filter((row) => row.policy === name).length
    return own === 0 ? [] : [counted(own, one, many)]
  })
  return listText(texts)
}

const LISTS: Readonly<Record<string, string>> = {
  managed_computers: 'Managed computers',
  byom_computers: 'Users’ own computers',
}

const ABOUT_LISTS =
  'The lists of the latest enterprise controls say which addresses may use computers; a list that names none has no row. The platform does not say who uses a computer: an active person who is not on a list breaks no rule. Active: any activity in 28 days.'

/** The title of a chart without rows, which depends on the settings. */
function orUnknown(empty: string, unknown: string): (view: View) => string {
  return ({ organisation }) => (organisation.are_settings_known ? empty : unknown)
}

const UNKNOWN_LISTS = 'It is not known which addresses may use computers'

export const allowedEmails = defineChart({
  id: 'allowed-emails',
  about:
    'Addresses that may use computers by the settings, and active people who are not on the list',
  how: ABOUT_LISTS,
  columns: {
    list: 'Allowed',
    listed: 'Addresses',
    listed_active: 'Active',
    listed_idle: 'Idle',
    listed_never: 'Never active',
    not_listed: 'Active people, not listed',
    other_domain: 'Of these, of another domain',
  },
  empty: orUnknown('No setting names the addresses that may use computers', UNKNOWN_LISTS),
  rows: ({ organisation }) =>
    organisation.allowed_emails.map(({ allow_list, ...counts }) => ({
      list: LISTS[allow_list] ?? allow_list,
      ...counts,
    })),
  finding: (rows) => {
    const outside = rows
      .filter(({ not_listed }) => not_listed > 0)
      .map(
        ({ list, not_listed }) =>
          `${counted(not_listed, 'active person is', 'active people are')} not on the list of ${list.toLowerCase()}`,
      )
    const unused = sum(rows.map((row) => row.listed_idle + row.listed_never))
    const idle = `${counted(unused, 'listed address is', 'listed addresses are')} not in use`
    if (outside.length > 0) return outside.join(', ')
    return unused === 0 ? 'All active people are on the lists, and all listed are active' : idle
  },
})

/** Maximum rows of `report/allowed_people`. */
const SHOWN = 100

export const allowedPeople = defineChart({
  id: 'allowed-people',
  about: `Active people who are not on a list of allowed addresses, at most ${SHOWN}`,
  how: ABOUT_LISTS,
  columns: {
    list: 'List',
    email: 'E-mail address',
    is_domain_listed: 'Domain is listed',
    active_days: 'Active days of 28',
  },
  empty: orUnknown('No active person is left out of a list of allowed addresses', UNKNOWN_LISTS),
  rows: ({ organisation }) =>
    organisation.allowed_people.map(({ allow_list, ...row }) => ({
      list: LISTS[allow_list] ?? allow_list,
      ...row,
    })),
  finding: (rows) => {
    const others = rows.filter((row) => !row.is_domain_listed).length
    const people = new Set(rows.map(({ email }) => email)).size
    const atLeast = rows.length < SHOWN ? '' : 'At least '
    const missing = `${atLeast}${counted(people, 'active person is', 'active people are')} not on a list of allowed addresses`
    return others === 0 ? missing : `${missing}, some with an address of another domain`
  },
})

export const sessionRetention = defineChart({
  id: 'session-retention',
  about: 'How long the settings keep sessions, and how old those were that the platform served',
  how: 'A row for each change of sessionRetentionDays. Sessions are counted in the period in which they were last fetched; age is from the last update. Only sessions whose id is known are fetched, and each until it no longer changes: there may be more past the retention.',
  columns: {
    since: 'Since',
    until: 'Until',
    days_kept: 'Days kept',
    fetched: 'Sessions fetched',
    oldest_days: 'Oldest, days',
    past: 'Past retention',
    changed_by: 'Changed by',
  },
  empty: orUnknown(
    'No setting says how long sessions are kept',
    'It is not known how long sessions are kept',
  ),
  rows: ({ organisation }) =>
    organisation.session_retention.some((row) => row.days_kept !== null)
      ? organisation.session_retention
      : [],
  finding: ([latest]) => {
    if (latest === undefined) return ''
    const { days_kept: days, since, fetched, past } = latest
    if (days === null) return `Since ${dayText(since)} no setting says how long sessions are kept`
    const kept = `Sessions are kept for ${counted(days, 'day')}`
    if (fetched === 0) return `${kept}; none has been fetched since ${dayText(since)}`
    const older = past === null || past === 0 ? 'none' : amount(past)
    const were = past === null || past <= 1 ? 'was' : 'were'
    return `${kept}; ${older} of ${amount(fetched)} fetched ${were} older`
  },
})

export const hookRecording = defineChart({
  id: 'hook-recording',
  about: 'Hooks that ran, as the platform counted them, and the events that are recorded',
  how: 'The platform counts each hook of an event, on every machine. Compare what is recorded with the runs of the recording hook, which “agent-warehouse hooks install” registers: if fewer are recorded, events are lost or have not landed yet; if more, the platform counted them on another day.',
  columns: {
    hook_event: 'Hook event',
    runs: 'Hooks run',
    recording_runs: 'Of the recording hook',
    recorded: 'Recorded events',
    recorded_share: 'Recorded',
  },
  empty: (view) => {
    const runs = sum(ofRange(view).map((row) => row.runs))
    return runs === 0
      ? `No hook ran ${inPeriod(view)}`
      : `Hooks ran ${counted(runs, 'time')} ${inPeriod(view)}; none of them is recorded`
  },
  rows: (view) => {
    const rows = ofRange(view)
    return rows.some((row) => (row.recording_runs ?? 0) + row.recorded > 0) ? rows : []
  },
  finding: (rows, view) => {
    const runs = sum(rows.map((row) => row.recording_runs))
    const recorded = sum(rows.map((row) => row.recorded))
    const events = `${counted(recorded, 'hook event is', 'hook events are')} recorded ${inPeriod(view)}`
    if (runs === 0) return `${events}; the platform counted no run of the recording hook`
    return recorded > runs
      ? `${events}, more than the ${amount(runs)} runs of the recording hook that the platform counted`
      : `${events}: ${percent(recorded / runs)} of the runs of the recording hook`
  },
})

function ofRange({ organisation, days }: View) {
  return organisation.hook_recording.filter((row) => row.days === days)
}
