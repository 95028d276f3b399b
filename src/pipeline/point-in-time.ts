import { addDays, dayOf, type Day } from '../lib/days.ts'
import { UsageError } from '../lib/errors.ts'
import { firstLanding, ledgerAsOf } from '../lake/point-in-time.ts'
import { entityRows, intervalRows, knownRange, type IntervalRow } from '../lake/intervals.ts'
import { pastFolder } from '../lake/layout.ts'
import { LedgerFile, type Ledger } from '../lake/ledger.ts'

/** What a build is made from: all that has landed, or what was known at a moment. */
export interface PointInTime {
  /** The folder that holds its base, laid out as a data folder. */
  readonly baseIn: string
  /** Milliseconds since the epoch; null: all that has landed. */
  readonly asOf: number | null
  readonly ledgerOf: (orgId: string) => Promise<Ledger>
  /** The last day that could be known, given the last day that a run planned for. */
  readonly lastDay: (planned: Day | undefined) => Day | undefined
  /** The row without what was not recorded of that time. */
  readonly shown: (row: IntervalRow) => IntervalRow
}

export function latestData(dataFolder: string): PointInTime {
  return {
    baseIn: dataFolder,
    asOf: null,
    ledgerOf: (orgId) => LedgerFile.read(dataFolder, orgId),
    lastDay: (planned) => planned,
    shown: (row) => row,
  }
}

/** What was known at `asOf`. @throws UsageError when nothing had landed by then. */
export async function dataAsOf(
  dataFolder: string,
  orgIds: readonly string[],
  asOf: number,
): Promise<PointInTime> {
  const first = await firstLanding(dataFolder, orgIds)
  if (first === undefined || first > asOf) {
    const when = first === undefined ? 'never' : `at ${new Date(first).toISOString()}`
    throw new UsageError(`--as-of: nothing had landed by ${new Date(asOf).toISOString()}`, {
      hint: `The first day landed ${when}: give that time or a later one.`,
    })
  }
  const yesterday = addDays(dayOf(asOf), -1)
  return {
    baseIn: pastFolder(dataFolder),
    asOf,
    ledgerOf: (orgId) => ledgerAsOf(dataFolder, orgId, asOf),
    lastDay: (planned) => (planned === undefined || planned > yesterday ? yesterday : planned),
    // how often a day had been asked for by then is not on record
    shown: (row) => ({ ...row, attempts: null }),
  }
}

/**
 * What is known of every day, some organisations at a time; `planned` returns the last analytics
 * day that a run planned for.
 */
export async function* intervalsOf(
  pointInTime: PointInTime,
  orgIds: readonly string[],
  planned: (orgId: string) => Day | undefined,
): AsyncGenerator<readonly IntervalRow[]> {
  let rows: IntervalRow[] = []
  for (const orgId of orgIds) {
    const ledger = await pointInTime.ledgerOf(orgId)
    const range = knownRange(ledger, pointInTime.lastDay(planned(orgId)))
    const own = [...intervalRows(orgId, ledger, range), ...entityRows(orgId, ledger)]
    for (const row of own) rows.push(pointInTime.shown(row))
    if (rows.length < ROWS_AT_ONCE) continue
    yield rows
    rows = []
  }
  yield rows
}

const ROWS_AT_ONCE = 10_000
