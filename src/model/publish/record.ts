import type { Database } from '../../lib/duckdb.ts'
import type { IntervalRow } from '../../lake/intervals.ts'
import { statement } from '../../lib/package.ts'

/** One run, for `meta.runs`. Times are ISO 8601, UTC; counts are of resource days. */
export interface RunRow {
  readonly runId: string
  readonly command: string
  readonly version: string
  readonly status: string
  readonly exitCode: number | null
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly daysLanded: number
  readonly daysEmpty: number
  readonly daysUnchanged: number
  readonly daysFailed: number
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
  await database.rows(statement('meta/runs'), { rows: jsonRows(runs.map(runFields)) })
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

function runFields(row: RunRow): object {
  return {
    run_id: row.runId,
    command: row.command,
    version: row.version,
    status: row.status,
    exit_code: row.exitCode,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
    days_landed: row.daysLanded,
    days_empty: row.daysEmpty,
    days_unchanged: row.daysUnchanged,
    days_failed: row.daysFailed,
    requests: row.requests,
  }
}

function jsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows)
}
