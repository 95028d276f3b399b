import { addDays, isDay, parseDay, startOf, type DayRange } from '../core/days.ts'
import { UsageError } from '../core/errors.ts'
import { RESOURCES, type Resource } from '../extract/resources.ts'
import type { SyncSelection } from '../pipeline.ts'
import type { Argv } from 'yargs'

/** Which days. */
export function rangeOptions<T>(yargs: Argv<T>) {
  return yargs
    .option('from', {
      type: 'string',
      requiresArg: true,
      describe: 'first day, YYYY-MM-DD (default: the beginning of history, 2026-01-14)',
    })
    .option('to', {
      type: 'string',
      requiresArg: true,
      describe: 'last day, YYYY-MM-DD (default: yesterday, UTC)',
    })
}

/** Which intervals to ask for. */
export function selectionOptions<T>(yargs: Argv<T>) {
  return rangeOptions(yargs)
    .option('only', {
      type: 'string',
      requiresArg: true,
      describe: `resources, separated by commas: ${RESOURCES.map(({ name }) => name).join(', ')}`,
    })
    .option('refetch', {
      type: 'boolean',
      default: false,
      describe: 'ask for every day of the range again, landed or not',
    })
}

/** How fast to ask, and how long. */
export function paceOptions<T>(yargs: Argv<T>) {
  return yargs
    .option('base-url', {
      type: 'string',
      requiresArg: true,
      describe: "the platform's public API host (or AGENT_BASE_URL)",
    })
    .option('rate', { type: 'number', requiresArg: true, describe: 'requests a second, at most' })
    .option('concurrency', {
      type: 'number',
      requiresArg: true,
      describe: 'requests in flight, at most',
    })
    .option('max-duration', {
      type: 'string',
      requiresArg: true,
      default: '5h',
      describe: 'stop in time and go on in the next run: 90s, 20m, 5h',
    })
}

interface RangeFlags {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface SelectionFlags extends RangeFlags {
  readonly only?: string | undefined
  readonly refetch: boolean
}

/** @throws UsageError for a bad date, a range that ends before it begins, an unknown resource. */
export function selectionOf(flags: SelectionFlags): SyncSelection {
  return {
    within: rangeOf(flags),
    refetch: flags.refetch,
    ...(flags.only === undefined ? {} : { resources: resourcesOf(flags.only) }),
  }
}

/** @throws UsageError for a bad date, and for a range that ends before it begins. */
export function rangeOf(flags: RangeFlags): Partial<DayRange> {
  const first = flags.from === undefined ? undefined : parseDay(flags.from, '--from')
  const last = flags.to === undefined ? undefined : parseDay(flags.to, '--to')
  if (first !== undefined && last !== undefined && first > last) {
    throw new UsageError(`--from ${first} is after --to ${last}`)
  }
  return { ...(first === undefined ? {} : { first }), ...(last === undefined ? {} : { last }) }
}

function resourcesOf(text: string): Resource[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter(
    (name) => name !== '',
  )
  const known = RESOURCES.map(({ name }) => name).join(', ')
  if (names.length === 0)
    throw new UsageError('--only: no resource is named', { hint: `Known: ${known}.` })
  return names.map((name) => {
    const resource = RESOURCES.find((each) => each.name === name)
    if (resource === undefined) {
      throw new UsageError(`--only: there is no resource '${name}'`, { hint: `Known: ${known}.` })
    }
    return resource
  })
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
 * An ISO 8601 instant with its zone, or a day for the end of it (UTC), as
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
