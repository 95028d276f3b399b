import type { Resource } from './data.ts'
import { COMPARISONS, comparedSpan, isInHistory, missingDays, totals, type View } from './view.ts'
import { amount, change, dayText, missingText } from './words.ts'

/** `the period before`, if the reader compares with it and the history covers it completely. */
export function comparedName(view: View): string | null {
  const span = comparedSpan(view)
  return span !== null && isInHistory(view, span) ? nameOf(view) : null
}

/** The compared period of the headlines and its days, or why nothing is compared. */
export function comparedText(view: View): string {
  const span = comparedSpan(view)
  if (span === null) return ''
  const name = nameOf(view)
  if (isInHistory(view, span))
    return `, compared with ${name}: ${dayText(span.first)} to ${dayText(span.last)}`
  const begin = dayText(view.organisation.first_day ?? span.last)
  return `. There is nothing to compare with: the history begins on ${begin}, and ${name} on ${dayText(span.first)}`
}

/**
 * `up 12% from 268`: a figure of these resources against the compared period, and what is missing.
 * Null if nothing is compared and no day is missing.
 */
export function changeText(
  view: View,
  resources: readonly Resource[],
  now: number | null,
  before: number | null | undefined,
): string | null {
  const span = comparedSpan(view)
  const days = missingDays(view, resources)
  const missingNow = missingText(days.now)
  if (span === null) return missingNow
  if (!isInHistory(view, span))
    return missingNow === null ? 'no earlier data' : `no earlier data; ${missingNow}`
  const missing = missingInEither(days)
  if (missing !== null) return `not compared: ${missing}`
  if (totals(view).before === undefined)
    return view.team === null ? 'no activity before' : 'too few people before'
  if (before === null || before === undefined) return 'not known before'
  const changed = change(now, before)
  if (changed === null) return `${amount(before)} before`
  return changed === 'unchanged' ? changed : `${changed} from ${amount(before)}`
}

function nameOf({ compare }: View): string {
  return COMPARISONS.find(([name]) => name === compare)?.[1] ?? ''
}

/** `3 days are missing, and 1 before`; null if none is. */
function missingInEither({ now, before }: ReturnType<typeof missingDays>): string | null {
  if (before === 0) return missingText(now)
  return now === 0
    ? `${missingText(before)} before`
    : `${missingText(now)}, and ${amount(before)} before`
}
