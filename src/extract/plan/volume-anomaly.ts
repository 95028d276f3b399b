import { fieldOf } from '../../client/index.ts'
import type { Interval, PendingConfirmation } from '../../lake/ledger.ts'

/** A second request sooner than this may hit the same temporary fault. */
const CONFIRMED_AFTER_MS = 3_600_000

/** Whether it is time to request a day again that came back much smaller. */
export function isConfirmationDue(pending: PendingConfirmation, now: number): boolean {
  return now >= pending.seenAt + CONFIRMED_AFTER_MS
}

/** What decides whether an answer confirms an anomaly in this run. */
export interface ConfirmationRule {
  /** By the platform's clock, milliseconds since the epoch. */
  readonly plannedAt: number
  /** Whether the user asked for the days again. */
  readonly isForced: boolean
}

/** A settled day that came back much smaller. Sizes are users, daily active users, or rows. */
export interface VolumeAnomaly {
  readonly known: Interval
  readonly served: PendingConfirmation
  readonly sizeBefore: number
  readonly size: number
}

/**
 * Whether an earlier answer had the same rows: one from long enough ago or, if the user
 * requests the days again, one from an earlier run.
 */
export function isConfirmed(
  { known: { suspect: pending }, served }: VolumeAnomaly,
  { isForced, plannedAt }: ConfirmationRule,
): boolean {
  if (pending?.digest !== served.digest) return false
  return isConfirmationDue(pending, served.seenAt) || (isForced && pending.seenAt < plannedAt)
}

/** Sums a field over the rows of a day (JSON texts). Values that are not numbers count as 0. */
export function sizeOf(sizeField: string, items: readonly string[]): number {
  const values = items.map((item) => Number(fieldOf(JSON.parse(item), sizeField)))
  return values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0)
}
