import { eachDay, HISTORY_START, type Day, type DayRange } from '../core/days.ts'
import { intervalKey, isSettled, type Ledger } from './ledger.ts'

/** What is known of one resource on one day, for people and for `meta.intervals`. */
export interface IntervalRow {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  readonly status: 'landed' | 'empty' | 'failed' | 'missing'
  /** True when every scheduled look at the day has been had. */
  readonly isSettled: boolean
  /** True when the last look found much less, which a second look must confirm. */
  readonly isSuspect: boolean
  /** ISO 8601, UTC. */
  readonly fetchedAt: string | null
  readonly rowCount: number | null
  readonly versions: number
  /** Null where it is not known. */
  readonly attempts: number | null
  readonly requestId: string | null
  readonly error: string | null
}

/** A row for every resource and every day of the range, missing days included. */
export function intervalRows(
  orgId: string,
  ledger: Ledger,
  resources: readonly string[],
  range: DayRange,
): IntervalRow[] {
  return resources.flatMap((resource) =>
    eachDay(range).map((day) => {
      const known = ledger.get(intervalKey(resource, day))
      const fetchedAt = known?.fetchedAt ?? null
      return {
        orgId,
        resource,
        day,
        status: known?.status ?? 'missing',
        isSettled: known !== undefined && isSettled(known),
        isSuspect: known?.suspect !== undefined,
        fetchedAt: fetchedAt === null ? null : new Date(fetchedAt).toISOString(),
        rowCount: known?.rowCount ?? null,
        versions: known?.versions ?? 0,
        attempts: known?.attempts ?? 0,
        requestId: known?.requestId ?? null,
        error: known?.error ?? null,
      }
    }),
  )
}

/** Days from the beginning of history to the last one known of: landed, failed, or planned for. */
export function knownRange(ledger: Ledger, lastPlanned: Day | undefined): DayRange {
  let last = lastPlanned ?? HISTORY_START
  for (const { day } of ledger.values()) if (day > last) last = day
  return { first: HISTORY_START, last }
}
