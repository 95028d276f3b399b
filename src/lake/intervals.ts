import {
  ENTITY_RESOURCES,
  isAnalytics,
  isEntityResource,
  isSnapshot,
  RESOURCES,
} from './resources.ts'
import { eachDay, HISTORY_START, type Day, type DayRange } from '../lib/days.ts'
import { intervalKey, isSettled, type Interval, type Ledger } from './ledger.ts'
import { literal, type Database } from '../lib/duckdb.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { grouped } from '../lib/grouped.ts'
import { inSnakeCase } from '../lib/snake-case.ts'
import { commitFile, withTemporary } from '../lib/files.ts'
import { baseFile } from './layout.ts'
import { statement, fill } from '../lib/package.ts'

/** The state of one resource on one day, for people and for `meta.intervals`. */
export interface IntervalRow {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  readonly status: 'landed' | 'empty' | 'failed' | 'missing'
  /** True if every scheduled recheck of the day has been made. */
  readonly isSettled: boolean
  /** True if the last recheck found a volume anomaly that awaits confirmation. */
  readonly isSuspect: boolean
  /** ISO 8601, UTC. */
  readonly fetchedAt: string | null
  readonly rowCount: number | null
  readonly versions: number
  /** Null if unknown. */
  readonly attempts: number | null
  readonly requestId: string | null
  readonly error: string | null
  /** False for a missed night that is over: the platform no longer serves its snapshot. */
  readonly isRecoverable: boolean
}

/** A row for every resource of analytics and every day of the range, missing days included. */
export function intervalRows(orgId: string, ledger: Ledger, range: DayRange): IntervalRow[] {
  return RESOURCES.flatMap(({ name }) =>
    eachDay(range).map((day) => rowOf(orgId, ledger, name, day)),
  )
}

/**
 * A row for every day on which an entity resource was requested and, for snapshots, also for
 * every missed night between the first landed and the last known one.
 */
export function entityRows(orgId: string, ledger: Ledger): IntervalRow[] {
  const known = [...ledger.values()].filter(({ resource }) => isEntityResource(resource))
  // hook events have the days of other machines, whose clocks may be ahead
  const last = daysOf(known.filter(({ resource }) => resource !== 'hook_events')).at(-1)
  const all = new Map<string, Pick<Interval, 'resource' | 'day'>>(
    known.map((each) => [intervalKey(each.resource, each.day), each]),
  )
  for (const resource of ENTITY_RESOURCES.filter(isSnapshot)) {
    const landed = known.filter((each) => each.resource === resource && each.file !== null)
    const [first] = daysOf(landed)
    if (first === undefined || last === undefined) continue
    for (const day of eachDay({ first, last }))
      all.set(intervalKey(resource, day), { resource, day })
  }
  return [...all]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { resource, day }]) => entityRow(rowOf(orgId, ledger, resource, day), last))
}

function daysOf(intervals: readonly Interval[]): Day[] {
  return intervals.map(({ day }) => day).sort()
}

/** Entity days are not rechecked: a fetched day is settled once it is over. */
function entityRow(row: IntervalRow, last: Day | undefined): IntervalRow {
  const isOver = last !== undefined && row.day < last
  const isFetched = row.status === 'landed' || row.status === 'empty'
  const isRecoverable = isFetched || !isOver || !isSnapshot(row.resource)
  return { ...row, isSettled: isFetched && isOver, isRecoverable }
}

function rowOf(orgId: string, ledger: Ledger, resource: string, day: Day): IntervalRow {
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
    isRecoverable: true,
  }
}

/** Analytics days from the start of history to the last landed, failed or planned day. */
export function knownRange(ledger: Ledger, lastPlanned: Day | undefined): DayRange {
  let last = lastPlanned ?? HISTORY_START
  for (const { resource, day } of ledger.values()) {
    if (day > last && !isEntityResource(resource)) last = day
  }
  return { first: HISTORY_START, last }
}

/**
 * Writes the base entity `intervals` of some organisations, for the models and for `meta.intervals`.
 * `rows`: all that is known of them. All months of an organisation are in one file: they have few
 * rows, and change together.
 */
export async function writeIntervals(
  database: Database,
  baseIn: string,
  rows: readonly IntervalRow[],
): Promise<void> {
  const organisations = grouped(rows, ({ orgId }) => orgId)
  await mapLimit(organisations, FILES_AT_ONCE, async ([orgId, own]) => {
    const path = baseFile(baseIn, orgId, 'intervals', 'all')
    await withTemporary(path, async (temporary) => {
      const values = { rows: literal(JSON.stringify(own.map(fields))), file: literal(temporary) }
      await database.run(fill(statement('base/steps/intervals'), values))
      await commitFile(temporary, path)
    })
  })
}

/** One waits for the disk while the next is made. */
const FILES_AT_ONCE = 4

function fields(row: IntervalRow): object {
  const { day, ...others } = row
  return { activity_date: day, is_analytics: isAnalytics(row.resource), ...inSnakeCase(others) }
}

/**
 * What a model may read of the rows: if two texts are equal, it would make the same rows from both.
 * Of the entity resources, which every run requests again, only the state of their days counts.
 */
export function seenByModels(rows: readonly IntervalRow[]): string {
  const seen = rows.map((row) => {
    const { orgId, resource, day, status, isSettled, isRecoverable } = row
    return isAnalytics(resource) ? row : [orgId, resource, day, status, isSettled, isRecoverable]
  })
  return JSON.stringify(seen)
}
