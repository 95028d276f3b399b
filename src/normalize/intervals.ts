import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { literal, type Database } from '../lib/duckdb.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { grouped } from '../lib/grouped.ts'
import { temporaryPath, commitFile } from '../lib/files.ts'
import type { IntervalRow } from '../lake/intervals.ts'
import { baseFile } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'

/**
 * Writes the base entity `intervals` of some organisations, which tells models what is settled.
 * `rows`: all that is known of them. All months of an organisation are in one file: they have few
 * rows, and change together.
 */
export async function writeIntervals(
  database: Database,
  baseIn: string,
  rows: readonly IntervalRow[],
): Promise<void> {
  await mapLimit(
    grouped(rows, ({ orgId }) => orgId),
    FILES_AT_ONCE,
    ([orgId, own]) => write(database, baseFile(baseIn, orgId, 'intervals', 'all'), own),
  )
}

/** One waits for the disk while the next is made. */
const FILES_AT_ONCE = 4

async function write(
  database: Database,
  path: string,
  intervals: readonly IntervalRow[],
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = temporaryPath(path)
  const rows = literal(JSON.stringify(intervals.map(fields)))
  await database.run(fill(statement('base/steps/intervals'), { rows, file: literal(temporary) }))
  await commitFile(temporary, path)
}

/** A day with a volume anomaly is not settled: the next recheck may confirm other rows. */
function fields(row: IntervalRow): object {
  return {
    org_id: row.orgId,
    resource: row.resource,
    activity_date: row.day,
    status: row.status,
    is_settled: row.isSettled && !row.isSuspect,
    fetched_at: row.fetchedAt,
  }
}
