import { fieldOf } from '../../client/index.ts'
import { isSettled, type Interval, type PendingConfirmation } from '../../lake/ledger.ts'

/** A second request sooner than this may meet the same passing fault. */
const CONFIRMED_AFTER_MS = 3_600_000

/** Whether it is time to request a day again that came back much smaller. */
export function isConfirmationDue(suspect: PendingConfirmation, now: number): boolean {
  return now >= suspect.seenAt + CONFIRMED_AFTER_MS
}

/** How the answers of a run count. */
export interface ChecksOfRun {
  /** By the platform's clock, milliseconds since the epoch. */
  readonly plannedAt: number
  /** Whether the user asked for the days again. */
  readonly isForced: boolean
}

/** A final day that came back much smaller. Sizes are users, daily active users, or rows. */
export interface VolumeAnomaly {
  readonly known: Interval
  readonly served: PendingConfirmation
  readonly sizeBefore: number
  readonly size: number
}

/** True where other rows than those that have landed have to be confirmed: the day is settled. */
export function isGuarded(known: Interval | undefined, digest: string): known is Interval {
  return known !== undefined && isSettled(known) && known.digest !== digest
}

/** Too little of a day to be believed at first sight: nothing, or less than half. */
export function isVolumeAnomaly({ known, served, sizeBefore, size }: VolumeAnomaly): boolean {
  return (served.rowCount === 0 && known.rowCount !== 0) || 2 * size < sizeBefore
}

/**
 * Whether an earlier answer had the same rows: one that was long enough ago or,
 * where the user asks again, one of an earlier run.
 */
export function isConfirmed(
  { known: { suspect }, served }: VolumeAnomaly,
  { isForced, plannedAt }: ChecksOfRun,
): boolean {
  if (suspect?.digest !== served.digest) return false
  return isConfirmationDue(suspect, served.seenAt) || (isForced && suspect.seenAt < plannedAt)
}

/** How large a day is by a field of its rows, JSON texts. What is no number counts nothing. */
export function sizeOf(sizeField: string, items: readonly string[]): number {
  const values = items.map((item) => Number(fieldOf(JSON.parse(item), sizeField)))
  return values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0)
}
