import { MS_PER_DAY } from '../../lib/days.ts'
/**
 * How long a `Retry-After` field asks to wait, in milliseconds: seconds, or any
 * of the three HTTP-date forms (RFC 9110, sections 10.2.3 and 5.6.7). A date is
 * read against the server's own `Date`, so a skewed clock here does not matter.
 * What cannot be read is undefined; a date in the past is 0.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const field = headers['retry-after']?.trim()
  if (field === undefined || field === '') return undefined
  if (/^\d+(\.\d+)?$/.test(field)) return Math.ceil(Number(field) * 1000)
  const until = httpDate(field)
  if (until === undefined) return undefined
  return Math.max(0, until - serverClock(headers, now))
}

/**
 * The server's clock by its `Date` field, milliseconds since the epoch: null where it
 * sent none, and NaN for one that is no date, which no server with a clock sends.
 */
export function serverTime(headers: Readonly<Record<string, string>>): number | null {
  return headers['date'] === undefined ? null : (httpDate(headers['date']) ?? NaN)
}

/** A `Date` that is further from this machine's clock cannot say when a wait ends. */
const FARTHEST_MS = 366 * MS_PER_DAY

/** The server's clock by its `Date` field where it can be believed, else this machine's. */
export function serverClock(headers: Readonly<Record<string, string>>, now: number): number {
  const time = serverTime(headers)
  return time !== null && Math.abs(time - now) <= FARTHEST_MS ? time : now
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const TIME = String.raw`(?<h>\d{2}):(?<m>\d{2}):(?<s>\d{2})`
const FORMS = [
  new RegExp(
    String.raw`^[a-z]{3}, (?<day>\d{2}) (?<month>[a-z]{3}) (?<year>\d{4}) ${TIME} gmt$`,
    'i',
  ),
  new RegExp(
    String.raw`^[a-z]+, (?<day>\d{2})-(?<month>[a-z]{3})-(?<year>\d{2}) ${TIME} gmt$`,
    'i',
  ),
  new RegExp(String.raw`^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`, 'i'),
]

/**
 * IMF-fixdate, RFC 850 date or asctime date as milliseconds since the epoch; undefined
 * for 31 February. Which day of the week it says makes no difference.
 */
export function httpDate(text: string): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text.trim())?.groups
    if (parts === undefined) continue
    const month = MONTHS.indexOf((parts['month'] ?? '').toLowerCase())
    const written = Number(parts['year'])
    const year = written < 70 ? 2000 + written : written < 100 ? 1900 + written : written
    const [day = 0, h = 0, m = 0, s = 0] = ['day', 'h', 'm', 's'].map((name) => Number(parts[name]))
    const daysOfMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
    if (month < 0 || day < 1 || day > daysOfMonth || h > 23 || m > 59 || s > 60) return undefined
    return Date.UTC(year, month, day, h, m, s)
  }
  return undefined
}
