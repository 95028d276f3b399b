import type { Database } from '../../lib/duckdb.ts'
import type { IntervalRow } from '../../lake/intervals.ts'
import { statement } from '../../lib/package.ts'

/** One run, for `meta.runs`. Times are ISO 8601, UTC; counts are of resource days. */
export interface RunRow {
  readonly run_id: string
  readonly command: string
  readonly version: string
  readonly status: string
  readonly exit_code: number | null
  readonly started_at: string
  readonly finished_at: string | null
  readonly days_landed: number
  readonly days_empty: number
  readonly days_unchanged: number
  readonly days_failed: number
  readonly requests: number
}

/** Writes the pipeline's own record, `meta.intervals` and `meta.runs`, into the warehouse. */
export async function writeRecord(
  database: Database,
  intervals: readonly IntervalRow[],
  runs: readonly RunRow[],
): Promise<void> {
  await database.rows(statement('meta/intervals'), {
    rows: jsonRows(intervals.map(intervalFields)),
  })
  await database.rows(statement('meta/runs'), { rows: jsonRows(runs) })
  await database.run(statement('meta/comments'))
}

function intervalFields(row: IntervalRow): object {
  return {
    org_id: row.orgId,
    resource: row.resource,
    activity_date: row.day,
    status: row.status,
    is_settled: row.isSettled,
    is_suspect: row.isSuspect,
    fetched_at: row.fetchedAt,
    row_count: row.rowCount,
    versions: row.versions,
    attempts: row.attempts,
    request_id: row.requestId,
    error: row.error,
    is_recoverable: row.isRecoverable,
  }
}

function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows)
}
