/** Numbers and days in words, the same in the page and in the digest. */

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const FINE = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const LIST = new Intl.ListFormat('en-GB')
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** `1,234`, `64.4M`; an en dash for an unknown number. */
export function amount(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (Math.abs(value) >= 100_000) return COMPACT.format(value)
  return (Math.abs(value) >= 100 ? WHOLE : FINE).format(value)
}

/** The tick of an axis: its place, and all ticks. */
type Ticks = [at?: number, ticks?: readonly number[]]

/** A number on an axis, where all ticks have the same format. */
export function tickAmount(value: number, ...[, ticks = []]: Ticks): string {
  return ticks.some((tick) => Math.abs(tick) >= 100_000) ? COMPACT.format(value) : amount(value)
}

/** A count on an axis; empty between two whole numbers. */
export function wholeAmount(value: number, ...place: Ticks): string {
  return Number.isInteger(value) ? tickAmount(value, ...place) : ''
}

/**
 * `67%`. Only nothing is `0%` and only all is `100%`: shares near them have a decimal, or are
 * `<0.1%`, `>99.9%` or `>100%`.
 */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–'
  const value = share * 100
  const size = Math.abs(value)
  // sums of doubles depend on their order
  if (size < 1e-7 || Math.abs(size - 100) < 1e-7) return `${Math.round(value)}%`
  if (size < 0.05) return '<0.1%'
  if (size >= 99.95 && size < 100.05) return size < 100 ? '>99.9%' : '>100%'
  return `${size < 1 || Math.abs(size - 100) < 1 ? FINE.format(value) : WHOLE.format(value)}%`
}

/** `up 12%`, `down 3%`, `unchanged`; null where there is nothing to be a share of. */
export function change(now: number | null, before: number | null | undefined): string | null {
  if (now === null || before === null || before === undefined || before <= 0) return null
  const share = now / before - 1
  // sums of doubles depend on their order
  if (Math.abs(share) < 1e-9) return 'unchanged'
  return `${share > 0 ? 'up' : 'down'} ${percent(Math.abs(share))}`
}

/** `+9.39M`, `−12`. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${amount(Math.abs(value))}`
}

/** Capitalises the first letter: `Volume of use`. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** `a, b and c` */
export function listText(texts: readonly string[]): string {
  return LIST.format(texts)
}

/** `23 Nov 2026` for an ISO day. */
export function dayText(day: string): string {
  return DAY.format(new Date(`${day}T00:00:00Z`))
}

/** `November 2026` for `2026-11`. */
export function monthText(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`))
}

export function sameDays(days: number, month: string): string {
  return `the same ${days === 1 ? 'day' : `${days} days`} of ${monthText(month)}`
}

export function missingText(days: number): string | null {
  return days === 0 ? null : counted(days, 'day is missing', 'days are missing')
}

/** ` (3 days are missing)`, after a number that lacks them; empty if none is missing. */
export function missingNote(days: number): string {
  const missing = missingText(days)
  return missing === null ? '' : ` (${missing})`
}

/** `1 person`, `3 people`; the number counts as it is shown. */
export function counted(value: number, one: string, many = `${one}s`): string {
  const text = amount(value)
  return `${text} ${text === '1' ? one : many}`
}

/** The organisations that the report leaves out: `1 more organisation is`. */
export function moreText(left: number): string {
  return left === 1 ? '1 more organisation is' : `${left} more organisations are`
}

/** Control characters, and characters that change the direction of the surrounding text. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu

/**
 * A served name, shortened for a label, and without characters that change the direction of text. A
 * long name loses its middle, because similar names differ at their ends.
 */
export function nameText(name: string, length = 32): string {
  const letters = Array.from(name.replaceAll(UNSEEN, ' '))
  if (letters.length <= length) return letters.join('')
  const end = Math.floor((length - 1) / 2)
  return [...letters.slice(0, length - 1 - end), '…', ...letters.slice(letters.length - end)].join(
    '',
  )
}

/** Whether a member stands for others that are not named, as `(12 other teams)` does. */
export function isResidual(name: string): boolean {
  return name.startsWith('(')
}

/** Stands for the people without a team. */
export const NO_TEAM = '(no team)'

/** `Team platform`, `Small teams`: at the beginning of a sentence. */
export function teamText(team: string): string {
  if (team === NO_TEAM) return 'People without a team'
  if (isResidual(team)) return capital(nameText(team.slice(1, -1)))
  return /^team\b/i.test(team) ? nameText(team) : `Team ${nameText(team)}`
}
