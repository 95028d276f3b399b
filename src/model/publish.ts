import { mkdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf, UsageError, type AppError } from '../core/errors.ts'
import type { RunEvent } from '../core/events.ts'
import { Database, literal } from '../store/duckdb.ts'
import { asideOf, asidePath, isMissing, listIfThere, settle } from '../store/files.ts'
import { writeArtefacts, type ArtefactOptions } from './artefacts/write.ts'
import { buildModels, type BuiltModel } from './build.ts'
import { runChecks, type CheckResult } from './checks.ts'
import { carryOver } from './carry-over.ts'
import { dropAllBut } from './clear.ts'
import type { BuildContext } from './context.ts'
import { Copy } from './copy.ts'
import { STORAGE_VERSION } from './engine.ts'
import { failedChecks, forgetFailures, storeFailures } from './failures.ts'
import { forgetFailed, leaveFailed } from './failed.ts'
import { checkFreshness, type FreshnessResult } from './freshness.ts'
import { createMeta, writeCheckResults, writeColumns, writeModels } from './meta.ts'
import type { Outcome, Report } from './outcomes.ts'
import { mayBeDamage, throwAll } from './problems.ts'
import { watchReferences, type Reference } from './references.ts'
import type { UnitTestResult } from './unit-tests.ts'
import { anew, planWork, type Work, type WorkOptions } from './work.ts'

export interface BuildOptions extends WorkOptions {
  /** Writes more tables of schema `meta`; called between the models and the checks. */
  readonly meta?: (db: Database) => Promise<void>
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** Where queries spill. */
  readonly tempDirectory: string
  /** DuckDB's own limit. Default `1GB`. */
  readonly memoryLimit?: string
  /** Stops the statement under way; nothing is published. */
  readonly signal?: AbortSignal
  /** A copy of `target` that was begun before. Default: it is made when it is needed. */
  readonly copy?: Copy
}

export interface BuildResult {
  readonly models: readonly BuiltModel[]
  readonly checks: readonly CheckResult[]
  /** Of the sources that are expected to be fresh. */
  readonly freshness: readonly FreshnessResult[]
  /** Those that were run: of models that are not as they were, or all in a full refresh. */
  readonly unitTests: readonly UnitTestResult[]
  /** Size of the published file. */
  readonly bytes: number
  readonly durationMs: number
}

const THREADS = 2

/**
 * Builds the warehouse in a new file beside the published one, checks it, and
 * puts it in its place whole. Whoever has the old file open keeps it. The
 * caller holds the lock of the data folder: leftovers of a crash are removed.
 *
 * @throws ChecksFailedError when a unit test fails or a check of severity error has failures,
 * UsageError for a selection with nothing published yet, ProjectError,
 * StatementError. The published file is then untouched.
 */
export async function buildAndPublish(options: BuildOptions): Promise<BuildResult> {
  const { target, now } = options
  const startedAt = now()
  const work = await planWork(options)
  for (const [model, reason] of work.refreshed) {
    options.emit({ type: 'model.refreshed', model, reason })
  }
  await mkdir(dirname(target), { recursive: true })
  await mkdir(options.tempDirectory, { recursive: true })
  await removeLeftovers(target, options.copy)
  const outcomes = new Map<string, Outcome>()
  const report: Report = (outcome) => {
    outcomes.set(`${outcome.kind} ${outcome.name}`, outcome)
  }
  let freshness: readonly FreshnessResult[] = []
  const reportFreshness = (results: readonly FreshnessResult[]): void => {
    freshness = results
  }
  const tell = (isPublished: boolean) =>
    writeDown(options, work, {
      startedAt,
      outcomes: [...outcomes.values()],
      freshness,
      isPublished,
    })
  try {
    const built = await buildUpon({ ...options, report, reportFreshness }, work)
    await tell(true)
    return { ...built, durationMs: now() - startedAt }
  } catch (error) {
    await tell(false)
    throw error
  }
}

type Course = Pick<ArtefactOptions, 'outcomes' | 'freshness' | 'isPublished'> & {
  readonly startedAt: number
}

/** Artefacts that cannot be written take nothing from what is published. */
async function writeDown(options: BuildOptions, work: Work, course: Course): Promise<void> {
  const { artefacts, project, sourceSql, target, runId, now, emit, select = null } = options
  if (artefacts === undefined) return
  const { folder, builder } = artefacts
  const { startedAt, ...rest } = course
  const invocation = { runId, startedAt, finishedAt: now(), builder }
  try {
    const { plan } = work
    await writeArtefacts({ folder, project, plan, sourceSql, target, select, invocation, ...rest })
  } catch (error) {
    emit({ type: 'warning', message: `${folder} could not be written: ${messageOf(error)}` })
  }
}

interface Building extends BuildOptions {
  readonly report: Report
  readonly reportFreshness: (results: readonly FreshnessResult[]) => void
}

type Built = Omit<BuildResult, 'durationMs'>
interface Filled {
  readonly built: Omit<Built, 'bytes'>
  readonly problems: readonly AppError[]
}

/** Where the published file turns out to be damaged, everything is made anew. */
async function buildUpon(options: Building, work: Work): Promise<Built> {
  try {
    return await buildFile(options, work)
  } catch (error) {
    if (work.kept.size === 0 || work.isPart || !mayBeDamage(error)) throw error
    const message = `the last file could not be built upon, all is made anew: ${messageOf(error)}`
    options.emit({ type: 'warning', message })
    return buildFile(options, anew(work))
  }
}

async function buildFile(options: Building, work: Work): Promise<Built> {
  const { target, signal } = options
  const aside = await beginAside(options, work)
  try {
    const { built, problems } = await buildAside(aside, options, work)
    const { failedFile, runId } = options
    if (problems.length > 0 && failedFile !== undefined) await leaveFailed(aside, failedFile, runId)
    throwAll(problems)
    await openOnce(aside)
    const { size: bytes } = await stat(aside)
    await publish(aside, target)
    if (failedFile !== undefined) await forgetFailed(failedFile)
    options.emit({ type: 'warehouse.published', path: target, bytes })
    return { ...built, bytes }
  } catch (error) {
    await removeFile(aside)
    signal?.throwIfAborted()
    throw error
  }
}

/** Where the new file is made: upon a copy, unless there is nothing to build upon. */
async function beginAside({ target, copy }: Building, work: Work): Promise<string> {
  if (!work.isPart && work.kept.size === 0) {
    await copy?.discard() // a disk has to hold two of them, not three
    return asidePath(target)
  }
  await using own = new Copy(work.upon, target)
  try {
    return await (copy !== undefined && work.upon === target ? copy : own).take()
  } catch (error) {
    if (!work.isPart || !isMissing(error)) throw error
    throw new UsageError(`--select: there is no published warehouse yet: ${target}`, {
      hint: 'Build everything first: agent-warehouse build.',
      cause: error,
    })
  }
}

/** What cannot be opened from the start as readers will open it is not published. */
async function openOnce(aside: string): Promise<void> {
  const db = await Database.open(aside, { readOnly: true })
  try {
    await db.rows('select count(*) from meta.columns')
  } finally {
    db.close()
  }
}

/** The file has no log while it is made: after a crash it is worth nothing. */
async function buildAside(aside: string, options: Building, work: Work): Promise<Filled> {
  const { tempDirectory, memoryLimit = '1GB', signal } = options
  await using db = await Database.open(':memory:', { threads: THREADS, memoryLimit, tempDirectory })
  await using second = await db.another()
  const release = interruptOnAbort([db, second], signal)
  try {
    await attach(db, aside, work)
    await second.run('use warehouse')
    const built = await fill({ ...options, db, second }, options, work)
    await second.run('use memory')
    await db.run('checkpoint warehouse; use memory; detach warehouse')
    return built
  } finally {
    release()
  }
}

async function attach(db: Database, aside: string, { upon, isPart }: Work): Promise<void> {
  try {
    await db.run(
      `attach ${literal(aside)} as warehouse (
        storage_version ${literal(STORAGE_VERSION)}, recovery_mode 'no_wal_writes'
      );
      use warehouse`,
    )
  } catch (error) {
    if (!isPart) throw error
    throw new UsageError(`the warehouse ${upon} cannot be read: ${messageOf(error)}`, {
      hint: 'A selection is built into a copy of it. Build everything: agent-warehouse build.',
      cause: error,
    })
  }
}

/** DuckDB forgets an interrupt that comes just before a statement begins, so it is repeated. */
function interruptOnAbort(
  databases: readonly Database[],
  signal: AbortSignal | undefined,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    timer = setInterval(() => {
      for (const db of databases) db.interrupt()
    }, 50)
  }
  signal?.addEventListener('abort', stop)
  return () => {
    signal?.removeEventListener('abort', stop)
    clearInterval(timer)
  }
}

async function fill(context: BuildContext, options: Building, work: Work): Promise<Filled> {
  const { db, now } = context
  const hasLost = await watchReferences(db, referencesOf(work))
  if (!work.isPart) {
    await dropAllBut(db, relationsThatStay(work))
    await carryOver(context, options.target, work)
  }
  if (options.retry === true) await forgetFailures(db)
  const made = await buildModels(context, work.chosen, work, work.unitTests)
  const { models, unitTests, lost } = made
  await createMeta(db)
  await options.meta?.(db)
  const freshness = await checkFreshness(context, options.project.sources, options.sourceSql)
  options.reportFreshness(freshness)
  const { results: checks, failures } = await runChecks(
    context,
    work.checks,
    { ...work, hasLost },
    lost,
  )
  const examples = await storeFailures(db, checks)
  await writeCheckResults(db, checks, options.runId, now())
  const chosen = work.chosen.filter(({ name }) => !lost.has(name))
  await writeModels(db, { ...work, chosen }, options.runId)
  await writeColumns(db, work.all)
  const wrong = failedChecks(checks, examples, options.failedFile?.path)
  return {
    built: { models, unitTests, checks, freshness },
    problems: [...made.failures, ...failures, ...wrong],
  }
}

function referencesOf({ known }: Work): Reference[] {
  return [...known].flatMap(({ reference }) => reference ?? [])
}

/** Tables that are brought up to date, and views that stand: all others are made anew. */
function relationsThatStay({ chosen, kept, standing }: Work): string[] {
  return chosen
    .filter(({ name, snapshot }) => kept.has(name) || standing.has(name) || snapshot !== null)
    .map(({ relation }) => relation)
}

/** A write-ahead log beside the old file would be replayed onto the new one. */
async function publish(aside: string, target: string): Promise<void> {
  await rm(walOf(target), { force: true })
  await settle(aside, target)
}

async function removeLeftovers(target: string, copy: Copy | undefined): Promise<void> {
  for (const { name } of await listIfThere(dirname(target))) {
    if (asideOf(name) !== basename(target) || name === basename(copy?.path ?? '')) continue
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
