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

const count = z.number().int().nonnegative().default(0)
const texts = z.array(z.string()).default(() => [])

function list<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.array(z.object(shape)).default(() => [])
}

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

/**
 * The content of `runs/<run_id>.json`. Members that a later version adds are ignored, and those
 * that an earlier one lacks are empty, as when a run begins.
 */
const runRecord = z.object({
  run_id: z.string(),
  command: z.string(),
  version: z.string(),
  /** `running` until the end is written. `killed`: the record has no end. */
  status: z.enum([...Object.values(ENDS), 'running', 'killed']),
  /** ISO 8601, UTC, as every time here. */
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable().default(null),
  exit_code: z.number().int().nullable().default(null),
  error: z.string().nullable().default(null),
  organisations: texts,
  /** The failed ones of several organisations. */
  failed_organisations: list({
    name: z.string(),
    org_id: z.string().nullable(),
    error: z.string(),
    exit_code: z.number().int(),
  }),
  totals: days
    .extend({
      requests: count,
      retries: count,
      bytes: count,
      base_files: count,
      models: count,
      checks_passed: count,
      checks_warned: count,
      checks_failed: count,
    })
    .prefault({}),
  resources: z.record(z.string(), days).default(() => ({})),
  failures: list({ ...orgDay, error: z.string(), request_id: z.string().nullable() }),
  /** Settled days that came back much smaller. */
  shrunk: list({
    ...orgDay,
    size_before: z.number(),
    size: z.number(),
    is_confirmed: z.boolean(),
  }),
  failed_checks: list({
    check: z.string(),
    severity: z.enum(['error', 'warn']),
    failures: count,
  }),
  published: z.object({ path: z.string(), bytes: count }).nullable().default(null),
  /** Run ids. */
  rolled_back: z.object({ from: z.string().nullable(), to: z.string() }).nullable().default(null),
  exports: list({ target: z.string(), path: z.string(), tables: count, rows: count }),
  reports: list({ path: z.string(), bytes: count }),
  warnings: texts,
  stages: list({ stage: z.string(), duration_ms: z.number().nonnegative() }),
})

export type RunRecord = z.infer<typeof runRecord>
export type Days = z.infer<typeof days>

/** The members of Days, in display order. */
export const DAYS = days.keyof().options

/** The record of a run that begins. */
export function newRecord(startedAt: string, version: string): RunRecord {
  const run = { run_id: '', command: '', version, status: 'running', started_at: startedAt }
  return runRecord.parse(run)
}

export function noDays(): Days {
  return days.parse({})
}

/** An earlier run without an end was killed, because the lock allows one run at a time. */
export function ended(record: RunRecord): RunRecord {
  return record.status === 'running' ? { ...record, status: 'killed' } : record
}

export async function writeRunRecord(folder: string, record: RunRecord): Promise<void> {
  const path = join(folder, `${pathSegment(record.run_id)}.json`)
  await writeAtomic(path, `${JSON.stringify(record, null, 2)}\n`)
}

/**
 * The results of `select` for every run record of the folder, oldest first; none if it does not
 * exist. Only one record at a time is in memory, because that of a night without responses names
 * every day of a fleet. Leaves out files that are not run records, with a warning.
 */
export async function readRunRecords<T>(
  folder: string,
  warn: (message: string) => void,
  select: (record: RunRecord) => T,
): Promise<T[]> {
  const found: { readonly start: string; readonly selected: T }[] = []
  const files = (await listIfThere(folder)).filter((entry) => !entry.isDirectory())
  const names = files.map(({ name }) => name)
  for (const file of names.filter((name) => name.endsWith('.json'))) {
    try {
      const text = await readFile(join(folder, file), 'utf8')
      const record = runRecord.parse(JSON.parse(text))
      found.push({ start: `${record.started_at} ${record.run_id}`, selected: select(record) })
    } catch (error) {
      const problem = error instanceof z.ZodError ? 'it is not a run record' : messageOf(error)
      warn(`${join(folder, file)} is left out, until it is repaired or removed: ${problem}`)
    }
  }
  return found.sort((a, b) => (a.start < b.start ? -1 : 1)).map(({ selected }) => selected)
}
