import { copyFile, mkdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ChecksFailedError, messageOf, UsageError } from '../core/errors.ts'
import type { RunEvent } from '../core/events.ts'
import { Database, literal } from '../store/duckdb.ts'
import { asideOf, asidePath, isMissing, listIfThere, settle } from '../store/files.ts'
import { buildModels, type BuildContext, type BuiltModel } from './build.ts'
import { planChecks, runChecks, type Check, type CheckResult } from './checks.ts'
import { compilePlan } from './compile.ts'
import { select } from './graph.ts'
import { createMeta, writeCheckResults, writeColumns } from './meta.ts'
import type { ModelNode, Project } from './types.ts'

export interface BuildOptions {
  readonly project: Project
  /** The published file, e.g. `<data>/warehouse.duckdb`. */
  readonly target: string
  /** The relation to read a source's table from, as SQL with absolute paths. */
  readonly sourceSql: (source: string, table: string) => string
  /** Writes more tables of schema `meta`; called between the models and the checks. */
  readonly meta?: (db: Database) => Promise<void>
  /** Overrule the project's own. */
  readonly vars?: Readonly<Record<string, unknown>>
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** Where queries spill. */
  readonly tempDirectory: string
  /** DuckDB's own limit. Default `1GB`. */
  readonly memoryLimit?: string
  /** Build these models only, into a copy of the published file. */
  readonly select?: string
  /** Stops the statement under way; nothing is published. */
  readonly signal?: AbortSignal
}

export interface BuildResult {
  readonly models: readonly BuiltModel[]
  readonly checks: readonly CheckResult[]
  /** Size of the published file. */
  readonly bytes: number
  readonly durationMs: number
}

/**
 * The oldest storage format that DuckDB 1.5 writes with all that the models
 * need: readers from DuckDB 1.0.0 on open the published file.
 */
const STORAGE_VERSION = 'v1.0.0'
const THREADS = 2

/**
 * Builds the warehouse in a new file beside the published one, checks it, and
 * puts it in its place whole. Whoever has the old file open keeps it. The
 * caller holds the lock of the data folder: leftovers of a crash are removed.
 *
 * @throws ChecksFailedError when a check of severity error has failures,
 * UsageError for a selection with nothing published yet, ProjectError,
 * StatementError. The published file is then untouched.
 */
export async function buildAndPublish(options: BuildOptions): Promise<BuildResult> {
  const { target, now } = options
  const startedAt = now()
  const plan = compilePlan(options.project, options)
  const chosen = options.select === undefined ? plan.models : select(plan.models, options.select)
  const checks = planChecks(plan, chosen)
  await mkdir(dirname(target), { recursive: true })
  await mkdir(options.tempDirectory, { recursive: true })
  await removeLeftovers(target)
  const aside = asidePath(target)
  try {
    if (options.select !== undefined) await copyPublished(target, aside)
    const built = await buildAside(aside, options, { all: plan.models, chosen, checks })
    const { size: bytes } = await stat(aside)
    await publish(aside, target)
    options.emit({ type: 'warehouse.published', path: target, bytes })
    return { ...built, bytes, durationMs: now() - startedAt }
  } catch (error) {
    await removeFile(aside)
    options.signal?.throwIfAborted()
    throw error
  }
}

interface Work {
  readonly all: readonly ModelNode[]
  readonly chosen: readonly ModelNode[]
  readonly checks: readonly Check[]
}

async function buildAside(
  aside: string,
  options: BuildOptions,
  work: Work,
): Promise<Pick<BuildResult, 'models' | 'checks'>> {
  const { tempDirectory, memoryLimit = '1GB', signal } = options
  const db = await Database.open(':memory:', { threads: THREADS, memoryLimit, tempDirectory })
  const release = interruptOnAbort(db, signal)
  try {
    await attach(db, aside, options)
    const built = await fill({ ...options, db }, options, work)
    await db.run('checkpoint warehouse; use memory; detach warehouse')
    return built
  } finally {
    release()
    db.close()
  }
}

async function attach(db: Database, aside: string, options: BuildOptions): Promise<void> {
  try {
    await db.run(
      `attach ${literal(aside)} as warehouse (storage_version ${literal(STORAGE_VERSION)});
      use warehouse`,
    )
  } catch (error) {
    if (options.select === undefined) throw error
    throw new UsageError(`the warehouse ${options.target} cannot be read: ${messageOf(error)}`, {
      hint: 'A selection is built into a copy of it. Build everything: agent-warehouse build.',
      cause: error,
    })
  }
}

/** DuckDB forgets an interrupt that comes just before a statement begins, so it is repeated. */
function interruptOnAbort(db: Database, signal: AbortSignal | undefined): () => void {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    timer = setInterval(() => {
      db.interrupt()
    }, 50)
  }
  signal?.addEventListener('abort', stop)
  return () => {
    signal?.removeEventListener('abort', stop)
    clearInterval(timer)
  }
}

async function fill(
  context: BuildContext,
  options: BuildOptions,
  work: Work,
): Promise<Pick<BuildResult, 'models' | 'checks'>> {
  const { db, now } = context
  const models = await buildModels(context, work.chosen)
  await createMeta(db)
  await options.meta?.(db)
  const checks = await runChecks(context, work.checks)
  refuseFailed(checks)
  await writeCheckResults(db, checks, options.runId, now())
  await writeColumns(db, work.all)
  return { models, checks }
}

function refuseFailed(results: readonly CheckResult[]): void {
  const failed = results.filter((result) => result.status === 'fail')
  if (failed.length === 0) return
  const told = failed.slice(0, 3)
  const names = told.map(({ check, failures }) => `${check} (${rowCount(failures)})`)
  const more =
    failed.length > told.length ? `, and ${String(failed.length - told.length)} more` : ''
  const count = failed.length === 1 ? 'a check' : `${String(failed.length)} checks`
  throw new ChecksFailedError(`${count} failed: ${names.join(', ')}${more}`, {
    hint: [
      'Nothing was published; the last warehouse is in its place. The rows that are wrong:',
      ...told.map(({ check, sql }) => `-- ${check}\n${sql};`),
    ].join('\n'),
  })
}

function rowCount(count: number): string {
  return count === 1 ? '1 row' : `${String(count)} rows`
}

/** A write-ahead log beside the old file would be replayed onto the new one. */
async function publish(aside: string, target: string): Promise<void> {
  await rm(walOf(target), { force: true })
  await settle(aside, target)
}

async function copyPublished(target: string, aside: string): Promise<void> {
  try {
    await copyFile(target, aside)
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new UsageError(`--select: there is no published warehouse yet: ${target}`, {
      hint: 'Build everything first: agent-warehouse build.',
      cause: error,
    })
  }
}

async function removeLeftovers(target: string): Promise<void> {
  for (const { name } of await listIfThere(dirname(target))) {
    if (asideOf(name) !== basename(target)) continue
    await rm(join(dirname(target), name), { force: true })
  }
}

async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
  await rm(walOf(path), { force: true })
}

function walOf(path: string): string {
  return `${path}.wal`
}
