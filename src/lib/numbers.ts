import { UsageError } from './errors.ts'

/** Returns a whole number within bounds; `what` names it. @throws UsageError for any other. */
export function checkWhole(what: string, value: number, least: number, most = Infinity): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  const bounds = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
  throw new UsageError(`${what}: ${value} is not a whole number ${bounds}`, {
    hint: `Give ${what} a whole number, for example ${least}.`,
  })
}

/** @throws UsageError for a number that is not above 0. */
export function checkAboveZero(what: string, value: number): number {
  if (value > 0) return value
  throw new UsageError(`${what}: ${value} is not a number above 0`, {
    hint: `Give ${what} a number above 0, for example 5.`,
  })
}
