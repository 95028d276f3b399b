import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Database, literal } from '../lib/duckdb.ts'
import { temporaryPath, commitFile } from '../lib/files.ts'
import type { IntervalRow } from '../lake/intervals.ts'
import { baseFile } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'

/**
 * Writes the base entity `intervals`, which tells models what is settled. All months of an
 * organisation are in one file: they have few rows, and change together.
 */
export async function writeIntervals(
  baseIn: string,
  orgIds: readonly string[],
  rows: readonly IntervalRow[],
): Promise<void> {
  const rowsOf = new Map<string, IntervalRow[]>(orgIds.map((orgId) => [orgId, []]))
  for (const row of rows) rowsOf.get(row.orgId)?.push(row)
  const database = await Database.open(':memory:')
  try {
    for (const [orgId, own] of rowsOf)
      await write(database, baseFile(baseIn, orgId, 'intervals', 'all'), own)
  } finally {
    database.close()
  }
}

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
