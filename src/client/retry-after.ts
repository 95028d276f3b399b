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
  return Math.max(0, until - (serverTime(headers) ?? now))
}

/** The server's clock by its `Date` field, milliseconds since the epoch. */
export function serverTime(headers: Readonly<Record<string, string>>): number | undefined {
  return headers['date'] === undefined ? undefined : httpDate(headers['date'])
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

/** IMF-fixdate, RFC 850 date or asctime date as milliseconds since the epoch. */
export function httpDate(text: string): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text.trim())?.groups
    if (parts === undefined) continue
    const month = MONTHS.indexOf((parts['month'] ?? '').toLowerCase())
    const written = Number(parts['year'])
    const year = written < 70 ? 2000 + written : written < 100 ? 1900 + written : written
    const [day, h, m, s] = ['day', 'h', 'm', 's'].map((name) => Number(parts[name]))
    if (month < 0 || day === undefined) return undefined
    return Date.UTC(year, month, day, h, m, s)
  }
  return undefined
}
