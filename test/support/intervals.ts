import { intervalKey, type Interval } from '../../src/lake/ledger.ts'
import { startOf, type Day } from '../../src/lib/days.ts'

/** A day that landed in the night after it, with the given changes. */
export function interval(resource: string, day: Day, change: Partial<Interval> = {}): Interval {
  return {
    resource,
    day,
    status: 'landed',
    fetchedAt: startOf(day) + 26 * 3_600_000,
    rowCount: 1,
    versions: 1,
    attempts: 1,
    requestId: null,
    file: 'f.parquet',
    sha256: 's',
    digest: 'd',
    error: null,
    ...change,
  }
}

export function ledgerOf(intervals: readonly Interval[]): Map<string, Interval> {
  return new Map(intervals.map((each) => [intervalKey(each.resource, each.day), each]))
}
