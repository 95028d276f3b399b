import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ExitCode, messageOf } from '../lib/errors.ts'
import { listIfThere, pathSegment, writeAtomic } from '../lib/files.ts'

/** How a run ended, by its exit code. */
export const ENDS = {
  [ExitCode.complete]: 'complete',
  [ExitCode.unexpected]: 'failed',
  [ExitCode.usage]: 'usage',
  [ExitCode.partial]: 'partial',
  [ExitCode.deferred]: 'deferred',
  [ExitCode.credential]: 'refused',
  [ExitCode.checksFailed]: 'checks_failed',
  [ExitCode.locked]: 'locked',
} as const

const count = z.number().int().nonnegative()

/**
 * Days of one resource in all organisations. `unchanged`: a recheck found the landed
 * version; `left`: planned, but a deadline or a rate limit came first.
 */
const days = z.object({
  asked: count,
  landed: count,
  empty: count,
  unchanged: count,
  failed: count,
  left: count,
  rows: count,
})

const orgDay = { org_id: z.string(), resource: z.string(), day: z.string() }

/** The content of `runs/<run_id>.json`. Members that a later version adds are ignored. */
const runRecord = z.object({
  run_id: z.string().min(1),
  command: z.string(),
  version: z.string(),
  /** `running` until the end is written. `killed`: the record has no end. */
  status: z.enum([...Object.values(ENDS), 'running', 'killed']),
  /** ISO 8601, UTC, as every time here. */
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  exit_code: z.number().int().nullable(),
  error: z.string().nullable(),
  organisations: z.array(z.string()),
  /** The failed ones of several organisations; missing in records of earlier versions. */
  failed_organisations: z
    .array(
      z.object({
        name: z.string(),
        org_id: z.string().nullable(),
        error: z.string(),
        exit_code: z.number().int(),
      }),
    )
    .default([]),
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
  failures: z.array(z.object({ ...orgDay, error: z.string(), request_id: z.string().nullable() })),
  /** Settled days that came back much smaller; missing in records of earlier versions. */
  shrunk: z
    .array(
      z.object({
        ...orgDay,
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
  /** Run ids; missing in records of earlier versions. */
  rolled_back: z.object({ from: z.string().nullable(), to: z.string() }).nullable().default(null),
  exports: z.array(z.object({ target: z.string(), path: z.string(), tables: count, rows: count })),
  /** Missing in records of earlier versions. */
  reports: z.array(z.object({ path: z.string(), bytes: count })).default([]),
  warnings: z.array(z.string()),
  stages: z.array(z.object({ stage: z.string(), duration_ms: z.number().nonnegative() })),
})

export type RunRecord = z.infer<typeof runRecord>
export type Days = z.infer<typeof days>

/** The members of Days, in display order. */
export const DAYS = days.keyof().options

/** An earlier run without an end was killed, because the lock allows one run at a time. */
export function ended(record: RunRecord): RunRecord {
  return record.status === 'running' ? { ...record, status: 'killed' } : record
}

export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  const path = join(folder, `${pathSegment(record.run_id)}.json`)
  await writeAtomic(path, `${JSON.stringify(record, null, 2)}\n`)
}

/**
 * What `of` takes from every run record of the folder, oldest first; none if it does not exist. One
 * record at a time is in memory: that of a night without answers names every day of a fleet. Leaves
 * out files that are not run records, with a warning.
 */
export async function readRunRecords<T>(
  folder: string,
  warn: (message: string) => void,
  of: (record: RunRecord) => T,
): Promise<T[]> {
  const found: { readonly start: string; readonly taken: T }[] = []
  const files = (await listIfThere(folder)).filter((entry) => !entry.isDirectory())
  const names = files.map(({ name }) => name)
  for (const file of names.filter((name) => name.endsWith('.json'))) {
    try {
      const text = await readFile(join(folder, file), 'utf8')
      const record = runRecord.parse(JSON.parse(text))
      found.push({ start: `${record.started_at} ${record.run_id}`, taken: of(record) })
    } catch (error) {
      const problem = error instanceof z.ZodError ? 'it is no run record' : messageOf(error)
      warn(`${join(folder, file)} is left out, until it is repaired or removed: ${problem}`)
    }
  }
  return found.sort((a, b) => (a.start < b.start ? -1 : 1)).map(({ taken }) => taken)
}
