import { fieldOf } from '../client/index.ts'
import { isSettled, type Interval, type Suspect } from '../store/ledger.ts'

/** A second look sooner than this may meet the same passing fault. */
const SECOND_LOOK_AFTER_MS = 3_600_000

/** Whether it is time to look a second time at a day that came back much smaller. */
export function isSecondLookDue(suspect: Suspect, now: number): boolean {
  return now >= suspect.seenAt + SECOND_LOOK_AFTER_MS
}

/** How the looks of a run count. */
export interface LooksOfRun {
  /** By the platform's clock, milliseconds since the epoch. */
  readonly plannedAt: number
  /** Whether somebody asked for the days again. */
  readonly isForced: boolean
}

/** What a look found. */
export interface Look {
  /** Of the rows, whatever their order. */
  readonly digest: string
  /** Rows, or users where a user can be met twice. */
  readonly rowCount: number
  /** By the platform's clock, milliseconds since the epoch. */
  readonly at: number
}

/** True where other rows than those that are landed must prove themselves: the day is settled. */
export function isGuarded(known: Interval | undefined, look: Look): known is Interval {
  return known !== undefined && isSettled(known) && known.digest !== look.digest
}

/** Too little of a day to be believed at first sight: nothing, or less than half. */
export function isShrunken(known: Interval, sizeBefore: number, look: Look, size: number): boolean {
  return (look.rowCount === 0 && known.rowCount !== 0) || 2 * size < sizeBefore
}

/**
 * Whether an earlier look found the same rows: one that was long enough ago or,
 * where somebody asks again, one of an earlier run.
 */
export function isConfirmed(suspect: Suspect | undefined, look: Look, run: LooksOfRun): boolean {
  if (suspect?.digest !== look.digest) return false
  return isSecondLookDue(suspect, look.at) || (run.isForced && suspect.seenAt < run.plannedAt)
}

/** What is remembered of rows that are not believed yet. */
export function suspectOf({ suspect }: Interval, { digest, rowCount, at }: Look): Suspect {
  return suspect?.digest === digest ? suspect : { digest, rowCount, seenAt: at }
}

/** How large a day is by a field of its rows, JSON texts. What is no number counts nothing. */
export function sizeOf(sizeField: string, items: readonly string[]): number {
  const values = items.map((item) => Number(fieldOf(JSON.parse(item), sizeField)))
  return values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0)
}
