import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../lib/errors.ts'
import { listIfThere, pathSegment, writeAtomic } from '../lib/files.ts'
import type { Summary } from './summary.ts'
import { allResources, RUN_STATUSES, statusOf } from './verdict.ts'

const count = z.number().int().nonnegative()
const days = z.object({
  asked: count,
  landed: count,
  empty: count,
  unchanged: count,
  failed: count,
  left: count,
  rows: count,
})

/** What `runs/<run_id>.json` holds. Members that a later version adds are passed over. */
const runRecord = z.object({
  run_id: z.string().min(1),
  command: z.string(),
  version: z.string(),
  /** `running` until the end is written; a run that was killed keeps it on file. */
  status: z.enum(['killed', ...RUN_STATUSES]),
  /** ISO 8601, UTC, as every time here. */
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  exit_code: z.number().int().nullable(),
  error: z.string().nullable(),
  organisations: z.array(z.string()),
  totals: days.extend({
    requests: count,
    retries: count,
    bytes: count,
    base_files: count,
    models: count,
    checks_passed: count,
    checks_warned: count,
    checks_failed: count,
  }),
  resources: z.record(z.string(), days),
  failures: z.array(
    z.object({
      org_id: z.string(),
      resource: z.string(),
      day: z.string(),
      error: z.string(),
      request_id: z.string().nullable(),
    }),
  ),
  /** Settled days that came back much smaller; not in records of versions before this was known. */
  shrunk: z
    .array(
      z.object({
        org_id: z.string(),
        resource: z.string(),
        day: z.string(),
        size_before: z.number(),
        size: z.number(),
        is_confirmed: z.boolean(),
      }),
    )
    .default([]),
  failed_checks: z.array(
    z.object({ check: z.string(), severity: z.enum(['error', 'warn']), failures: count }),
  ),
  published: z.object({ path: z.string(), bytes: count }).nullable(),
  /** Run ids; not in records of versions before this was known. */
  rolled_back: z.object({ from: z.string().nullable(), to: z.string() }).nullable().default(null),
  exports: z.array(z.object({ target: z.string(), path: z.string(), tables: count, rows: count })),
  warnings: z.array(z.string()),
  stages: z.array(z.object({ stage: z.string(), duration_ms: z.number().nonnegative() })),
})

export type RunRecord = z.infer<typeof runRecord>

export interface RunRecords {
  /** By start, the oldest first. */
  readonly records: readonly RunRecord[]
  /** Files that are no run record, and why. */
  readonly skipped: readonly { readonly file: string; readonly reason: string }[]
}

/** The record of a run as far as it has come; `version` is the package's. */
export function runRecordOf(summary: Summary, version: string): RunRecord {
  const { requests, base, checks } = summary
  return {
    run_id: summary.runId,
    command: summary.command,
    version,
    status: statusOf(summary),
    started_at: iso(summary.startedAt),
    finished_at: summary.finishedAt === null ? null : iso(summary.finishedAt),
    exit_code: summary.exitCode,
    error: summary.error,
    organisations: [...summary.organisations],
    totals: {
      ...allResources(summary),
      requests: requests.made,
      retries: requests.retried,
      bytes: requests.bytes,
      base_files: base.files,
      models: summary.models,
      checks_passed: checks.passed,
      checks_warned: checks.warned,
      checks_failed: checks.failed,
    },
    resources: { ...summary.resources },
    failures: summary.failures.map(({ orgId, resource, day, error, requestId }) => ({
      org_id: orgId,
      resource,
      day,
      error,
      request_id: requestId,
    })),
    shrunk: summary.shrunk.map(({ orgId, resource, day, sizeBefore, size, isConfirmed }) => ({
      org_id: orgId,
      resource,
      day,
      size_before: sizeBefore,
      size,
      is_confirmed: isConfirmed,
    })),
    failed_checks: [...summary.failedChecks],
    published: summary.published,
    rolled_back: summary.rolledBack,
    exports: [...summary.exports],
    warnings: summary.warnings.map(({ message }) => message),
    stages: summary.stages.map(({ stage, durationMs }) => ({ stage, duration_ms: durationMs })),
  }
}

/** Writes `<folder>/<run_id>.json`, at the start and again at the end; readers see one or the other. */
export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  const path = join(folder, `${pathSegment(record.run_id)}.json`)
  await writeAtomic(path, `${JSON.stringify(record, null, 2)}\n`)
}

/** Every run record of the folder; none when there is no folder. */
export async function readRunRecords(folder: string): Promise<RunRecords> {
  const names = (await listIfThere(folder))
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.json'))
  const read = await Promise.all(names.map((file) => readRecord(folder, file)))
  return {
    records: read.flatMap(({ record }) => record ?? []).sort(byStart),
    skipped: read.flatMap(({ file, reason }) => (reason === undefined ? [] : { file, reason })),
  }
}

interface ReadRecord {
  readonly file: string
  readonly record?: RunRecord
  readonly reason?: string
}

async function readRecord(folder: string, file: string): Promise<ReadRecord> {
  try {
    const parsed = runRecord.safeParse(JSON.parse(await readFile(join(folder, file), 'utf8')))
    if (parsed.success) return { file, record: parsed.data }
    const [issue] = parsed.error.issues
    return {
      file,
      reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a run record'}`,
    }
  } catch (error) {
    return { file, reason: messageOf(error) }
  }
}

function byStart(a: RunRecord, b: RunRecord): number {
  return compare(a.started_at, b.started_at) || compare(a.run_id, b.run_id)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
