import { defineChart } from './chart.ts'
import { inPeriod, sum, type View } from './view.ts'
import { amount, counted, dayText, percent } from './words.ts'

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
