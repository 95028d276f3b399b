import type { EventOf } from '../lib/events.ts'
import { digits, longest } from '../lib/text.ts'

/** Milliseconds as `340ms`, `9.5s`, `4m 12s`, `2h 03m` or `12 days`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`
  const minutes = Math.round(seconds / 60)
  if (minutes >= 2 * MINUTES_PER_DAY) return `${digits(Math.round(minutes / MINUTES_PER_DAY))} days`
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
}

const MINUTES_PER_DAY = 24 * 60

function twoDigits(count: number): string {
  return String(count).padStart(2, '0')
}

/** The first lines, and a last one made by `rest` for the number of others. */
export function firstLines(
  lines: readonly string[],
  most: number,
  rest: (more: number) => string,
): readonly string[] {
  const more = lines.length - most
  return more <= 0 ? lines : [...lines.slice(0, most), rest(more)]
}

/** Aligns rows of cells: the first cell to the left, the others to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => longest(rows.map((row) => row[at] ?? '')))
  return rows.map(([name = '', ...numbers]) => {
    const padded = numbers.map((cell, at) => cell.padStart(widths[at + 1] ?? 0))
    return [name.padEnd(widths[0] ?? 0), ...padded].join('  ')
  })
}

/** An instant in ISO 8601, to the second: `2026-03-01T06:00:00Z`. Anything else stays. */
export function toSecond(instant: string): string {
  return instant.replace(/^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\.\d+/, '$1')
}

/** The id of a request, unless its error names it. */
export function requestNote(id: string | null, error: string): string {
  return id === null || error.includes(id) ? '' : ` (request ${id})`
}

export function addressing(addressed: EventOf<'organisation.addressed'>): string {
  const { name, addresses, keySource, others = 0 } = addressed
  const hosts = addresses.join(' and ')
  if (others === 0) return `requests for '${name}' go to ${hosts} with the key from ${keySource}`
  return `requests for '${name}' and ${digits(others)} more go to ${hosts}, each with its own key, the first from ${keySource}`
}

/** Says that a settled day came back much smaller, and whether that is confirmed. */
export function shrinkage(shrunk: Omit<EventOf<'interval.shrunk'>, 'type'>): string {
  const { orgId, resource, day, sizeBefore, size, isConfirmed } = shrunk
  const what = `${resource} ${day} of ${orgId} came back with ${digits(size)} instead of ${digits(sizeBefore)}`
  return isConfirmed
    ? `${what}, confirmed by a second recheck, so it is used`
    : `${what}: the earlier data is kept until a second recheck confirms the change`
}
