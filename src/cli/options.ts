import { addDays, isDay, parseDay, startOf, type DayRange } from '../lib/days.ts'
import { isEntityResource, ITEMS, RESOURCES, type EntityResource } from '../lake/resources.ts'
import type { Config } from '../config/config.ts'
import { refuseUnknown } from '../config/organisations.ts'
import { UsageError } from '../lib/errors.ts'
import { splitNames, suggestion } from '../lib/text.ts'
import type { SyncSelection } from '../pipeline/sync.ts'
import { flag, number, text, textOr, texts, type Flags } from './command.ts'

const ALL_NAMES = Object.keys(ITEMS)

export const rangeOptions = {
  from: text('first day, YYYY-MM-DD (default: 2026-01-14, the first day of history)'),
  to: text('last day, YYYY-MM-DD (default: yesterday, UTC)'),
}

export const orgOption = {
  org: texts('name of a configured organisation; repeat it, or use commas, for several'),
}

/**
 * The names in `--org`; undefined without the option.
 *
 * @throws UsageError for an unknown name.
 */
export function organisationsOf(
  { org }: Flags<typeof orgOption>,
  known: Iterable<string>,
): readonly string[] | undefined {
  if (org === undefined) return undefined
  const names = new Set(known)
  const requested = splitNames(org, names)
  refuseUnknown(requested, names)
  return requested
}

export function configuredNames(config: Pick<Config, 'hosts'>): string[] {
  return config.hosts().map(({ name }) => name)
}

/** Which intervals to request, and of which organisations. */
export const selectionOptions = {
  ...rangeOptions,
  only: texts(
    `only these resources; repeat it, or use commas, for several: ${ALL_NAMES.join(', ')}`,
  ),
  session: texts('id of a session to request even if it is not due; can be repeated'),
  message: texts('a message to request, as <session id>/<message id>; can be repeated'),
  refetch: flag('request every day of the range again, even if it has landed'),
  ...orgOption,
}

export const paceOptions = {
  'base-url': text("the platform's API host (default: AGENT_BASE_URL)"),
  rate: number('maximum number of requests per second'),
  concurrency: number('maximum number of requests at the same time'),
  'max-duration': textOr(
    '5h',
    'send no request after this time, such as 90s, 20m or 5h; the next run continues',
  ),
}

/**
 * Returns a function that gives the selection in a configuration; it throws UsageError for an
 * unknown organisation, and for readiness reports without a web application host.
 *
 * @throws UsageError for an invalid date, a range that ends before it begins, an unknown
 *   resource, an invalid id of a session or a message, and an id of a resource that `--only`
 *   leaves out.
 */
export function selectionOf(flags: Flags<typeof selectionOptions>) {
  const { only } = flags
  const names =
    only === undefined ? undefined : listOf(only.join(','), '--only', 'resource', ALL_NAMES)
  const sessions = (flags.session ?? []).map((id) => idOf(id, '--session'))
  const messages = (flags.message ?? []).map(messageIdOf)
  const isAsked = (name: EntityResource): boolean => names?.includes(name) ?? true
  if (sessions.length > 0 && !isAsked('sessions')) throw leftOut('--session', 'sessions')
  if (messages.length > 0 && !isAsked('messages')) throw leftOut('--message', 'messages')
  const choice = {
    within: rangeOf(flags),
    refetch: flags.refetch,
    resources: names && RESOURCES.filter(({ name }) => names.includes(name)),
    entities: { sessions, messages, resources: names?.filter(isEntityResource) },
  }
  return (config: Pick<Config, 'hosts'>): SyncSelection => {
    const organisations = organisationsOf(flags, configuredNames(config))
    if (names?.includes('readiness_reports') === true) requireAppUrl(config, organisations)
    return { ...choice, organisations }
  }
}

function requireAppUrl(
  { hosts }: Pick<Config, 'hosts'>,
  organisations: readonly string[] | undefined,
): void {
  const isSelected = (name: string): boolean => organisations?.includes(name) ?? true
  if (hosts().some(({ name, appUrl }) => appUrl !== null && isSelected(name))) return
  throw new UsageError(
    '--only: no web application host is set, so there are no readiness_reports to request',
    { hint: 'Set AGENT_APP_URL, or app_url of the organisation in agent-warehouse.yaml.' },
  )
}

function idOf(text: string, what: string): string {
  const id = text.trim()
  if (id !== '' && id !== '.' && id !== '..') return id
  throw new UsageError(`${what}: '${text}' is not an id`)
}

function messageIdOf(text: string): { sessionId: string; messageId: string } {
  const [sessionId = '', messageId = '', ...rest] = text.split('/')
  if (rest.length > 0 || messageId === '') {
    throw new UsageError(`--message: '${text}' is not <session id>/<message id>`)
  }
  return { sessionId: idOf(sessionId, '--message'), messageId: idOf(messageId, '--message') }
}

function leftOut(flag: string, resource: EntityResource): UsageError {
  return new UsageError(`${flag} needs the resource '${resource}', which --only leaves out`)
}

/** @throws UsageError for an invalid date, and for a range that ends before it begins. */
export function rangeOf(flags: Flags<typeof rangeOptions>): Partial<DayRange> {
  const first = flags.from === undefined ? undefined : parseDay(flags.from, '--from')
  const last = flags.to === undefined ? undefined : parseDay(flags.to, '--to')
  if (first !== undefined && last !== undefined && first > last) {
    throw new UsageError(`--from ${first} is after --to ${last}`)
  }
  return { ...(first === undefined ? {} : { first }), ...(last === undefined ? {} : { last }) }
}

/**
 * Parses names separated by commas; `noun` says what they name.
 *
 * @throws UsageError if there is no name, and for an unknown one.
 */
export function listOf(
  text: string,
  what: string,
  noun: string,
  known: readonly string[],
): string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter(Boolean)
  const unknown = names.find((name) => !known.includes(name))
  if (names.length > 0 && unknown === undefined) return names
  const problem = unknown === undefined ? `no ${noun} is named` : `there is no ${noun} '${unknown}'`
  throw new UsageError(`${what}: ${problem}`, { hint: suggestion(unknown ?? '', known) })
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

/** `90s`, `20m`, `5h` as milliseconds. @throws UsageError */
export function durationOf(text: string, what: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text.trim()) ?? []
  const scale = unit === undefined ? undefined : UNITS[unit]
  if (amount === undefined || scale === undefined || Number(amount) === 0) {
    throw new UsageError(`${what}: '${text}' is not a duration`, {
      hint: 'Write a number with s, m or h, for example 20m.',
    })
  }
  return Number(amount) * scale
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/

/**
 * Parses an ISO 8601 instant with its zone, or a day, which means its end (UTC), to
 * milliseconds since the epoch. @throws UsageError
 */
export function momentOf(text: string, what: string): number {
  if (isDay(text)) return startOf(addDays(text, 1)) - 1
  const [, day = ''] = INSTANT.exec(text) ?? []
  const moment = Date.parse(text)
  if (isDay(day) && !Number.isNaN(moment)) return moment
  throw new UsageError(`${what}: '${text}' is not a time`, {
    hint: 'Write a day, 2026-03-01, or a time with its zone, 2026-03-01T06:00:00Z.',
  })
}

/** Parses a whole number. @throws UsageError */
export function wholeNumber(text: string, what: string, least: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text.trim()) && Number.isSafeInteger(number) && number >= least) return number
  throw new UsageError(`${what}: '${text}' is not a whole number of at least ${least}`)
}
