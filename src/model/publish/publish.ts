import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf, UsageError, type AppError } from '../../lib/errors.ts'
import type { RunEvent } from '../../lib/events.ts'
import { Database, literal } from '../../lib/duckdb.ts'
import {
  nameOfTemporary,
  temporaryPath,
  listIfThere,
  removeFile,
  syncFile,
} from '../../lib/files.ts'
import { processLimits } from '../../lib/machine.ts'
import { publishFile } from '../../lake/published.ts'
import { writeArtifacts, type ArtifactOptions } from '../artifacts/write.ts'
import { buildModels, type BuiltModel } from '../build/build.ts'
import { runChecks, type CheckResult } from '../checks/checks.ts'
import { dropAllBut } from '../build/drop-unused.ts'
import { compilePlan } from '../project/compile.ts'
import type { BuildContext } from '../build/build-context.ts'
import { contentsOf, type Contents } from './content.ts'
import { openUpon, type Upon } from '../build/published-state.ts'
import type { Copy } from '../build/working-copy.ts'
import { STORAGE_VERSION } from '../engines/duckdb.ts'
import { failedChecks, forgetFailures, storeFailures } from '../build/failures.ts'
import { forgetFailed, leaveFailed, recordFailed, type FailedFile } from '../build/failed-build.ts'
import { checkFreshness, type FreshnessResult } from '../project/freshness.ts'
import { createMeta, writeCheckResults, writeColumns, writeModels } from './meta.ts'
import type { Outcome, Report } from '../build/outcomes.ts'
import { mayBeDamage, throwAll } from '../build/problems.ts'
import { loadSnapshot, saveSnapshot } from '../build/snapshots.ts'
import type { ModelNode } from '../project/types.ts'
import { watchReferences, type Reference } from '../project/references.ts'
import type { UnitTestResult } from '../checks/unit-tests.ts'
import { anew, isPartOf, planWork, type Work, type WorkOptions } from '../build/work.ts'

export interface BuildOptions extends WorkOptions {
  /** Writes more tables of schema `meta`; called between the models and the checks. */
  readonly meta?: (db: Database) => Promise<void>
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** Where queries spill. */
  readonly tempDirectory: string
  /** Stops the statement under way; nothing is published. */
  readonly signal?: AbortSignal
  /** A copy of `target` that was begun before. Default: it is made when it is needed. */
  readonly copy?: Copy
  /** The moment whose knowledge the sources hold, milliseconds since the epoch. Default: all. */
  readonly asOf?: number | null
  /** How many earlier published files are kept. Default: none. */
  readonly keep?: number
}

export interface BuildResult {
  readonly models: readonly BuiltModel[]
  readonly checks: readonly CheckResult[]
  /** Of the sources that are expected to be fresh. */
  readonly freshness: readonly FreshnessResult[]
  /** Those that were run: of models that are not as they were, or all in a full refresh. */
  readonly unitTests: readonly UnitTestResult[]
  /** Size of the published file; null where it holds all this already and stays as it is. */
  readonly bytes: number | null
  readonly durationMs: number
}

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
  const { target, now, emit } = options
  const startedAt = now()
  await mkdir(dirname(target), { recursive: true })
  await mkdir(options.tempDirectory, { recursive: true })
  await removeLeftovers(target, options.copy)
  const warn = (message: string): void => {
    emit({ type: 'warning', message, about: 'damage' })
  }
  const plan = compilePlan(options.project, options)
  const snapshots = snapshotsOf(plan.models)
  const upon = await openUpon({ ...options, snapshots, isPart: isPartOf(options), warn })
  const work = await planWork(options, plan, upon).catch(async (error: unknown) => {
    if (upon.path !== null) await removeDatabase(upon.path)
    throw error
  })
  for (const [model, reason] of work.refreshed) emit({ type: 'model.refreshed', model, reason })
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
  const { failedFile, artifacts, runId } = options
  const left: FailedFile[] = []
  const leave = async (temporary: string): Promise<void> => {
    if (failedFile === undefined) return
    await leaveFailed(temporary, failedFile)
    left.push(failedFile)
  }
  try {
    const built = await buildUpon({ ...options, warn, report, reportFreshness, leave }, work, upon)
    await tell(true)
    return { ...built, durationMs: now() - startedAt }
  } catch (error) {
    await tell(false)
    for (const file of left) await recordFailed(file, runId, artifacts?.folder)
    throw error
  }
}

type Course = Pick<ArtifactOptions, 'outcomes' | 'freshness' | 'isPublished'> & {
  readonly startedAt: number
}

/** Artifacts that cannot be written take nothing from what is published. */
async function writeDown(options: BuildOptions, work: Work, course: Course): Promise<void> {
  const { artifacts, project, sourceSql, target, runId, now, emit, select = null } = options
  if (artifacts === undefined) return
  const { folder, builder } = artifacts
  const { startedAt, ...rest } = course
  const invocation = { runId, startedAt, finishedAt: now(), builder }
  try {
    const { plan } = work
    await writeArtifacts({ folder, project, plan, sourceSql, target, select, invocation, ...rest })
  } catch (error) {
    emit({ type: 'warning', message: `${folder} could not be written: ${messageOf(error)}` })
  }
}

interface Building extends BuildOptions {
  readonly report: Report
  readonly reportFreshness: (results: readonly FreshnessResult[]) => void
  readonly warn: (message: string) => void
  /** Leaves a file that is not published for a look and a retry. */
  readonly leave: (temporary: string) => Promise<void>
}

type Built = Omit<BuildResult, 'durationMs'>
interface Filled {
  readonly built: Omit<Built, 'bytes'>
  readonly problems: readonly AppError[]
  readonly contents: Contents
}

/** Where the file that is continued from turns out to be damaged, everything is built again. */
async function buildUpon(options: Building, work: Work, upon: Upon): Promise<Built> {
  try {
    return await buildFile(options, work, upon)
  } catch (error) {
    if (work.kept.size === 0 || work.isPart || !mayBeDamage(error)) throw error
    options.warn(
      `the published file could not be continued from, everything is built again: ${messageOf(error)}`,
    )
    return buildFile(options, anew(work), { ...upon, path: null })
  }
}

async function buildFile(options: Building, work: Work, upon: Upon): Promise<Built> {
  const { target, signal, failedFile } = options
  const temporary = await beginFile(target, work, upon)
  try {
    const { built, problems, contents } = await fillFile(temporary, options, work)
    if (problems.length > 0) await options.leave(temporary)
    throwAll(problems)
    const bytes = (await isPublished(contents, options, upon, temporary))
      ? await discard(temporary, target, options)
      : await publish(temporary, contents, options, upon)
    if (failedFile !== undefined) await forgetFailed(failedFile)
    return { ...built, bytes }
  } catch (error) {
    await removeDatabase(temporary)
    signal?.throwIfAborted()
    throw error
  }
}

/** Where the new file is made: in the copy, unless there is nothing in it to continue from. */
async function beginFile(
  target: string,
  { isPart, kept }: Work,
  { path, held }: Upon,
): Promise<string> {
  if (isPart && path !== null) return path
  if (isPart) {
    const what =
      held.problem === null
        ? `--select: there is no published warehouse yet: ${target}`
        : `--select: ${target} is not the file that was published: ${held.problem}`
    throw new UsageError(what, { hint: 'Build everything first: agent-warehouse build.' })
  }
  if (path !== null && kept.size > 0) return path
  if (path !== null) await removeDatabase(path) // a disk has to hold two files, not three
  return temporaryPath(target)
}

/**
 * Whether the published file holds all that the new one does, and can be read: not while
 * another program has it open for writing.
 */
async function isPublished(
  { content, meta }: Contents,
  { fullRefresh, target }: Building,
  { present, path }: Upon,
  temporary: string,
): Promise<boolean> {
  const isContinued = path === temporary && fullRefresh !== true
  if (!isContinued || present?.content !== content || present.meta !== meta) return false
  return openOnce(target).then(
    () => true,
    () => false,
  )
}

async function discard(temporary: string, target: string, { emit }: Building): Promise<null> {
  await removeDatabase(temporary)
  emit({ type: 'warehouse.unchanged', path: target })
  return null
}

async function publish(
  temporary: string,
  contents: Contents,
  options: Building,
  { present }: Upon,
): Promise<number> {
  const { target, runId, asOf = null, keep = 0, warn, now } = options
  await openOnce(temporary)
  await syncFile(temporary)
  const builtAt = new Date(now()).toISOString()
  const known = asOf === null ? null : new Date(asOf).toISOString()
  const publication = { target, runId, builtAt, asOf: known, ...contents, present, keep, warn }
  const bytes = await publishFile(temporary, publication)
  options.emit({ type: 'warehouse.published', path: target, bytes })
  return bytes
}

/** What cannot be opened from the start as readers will open it is not published. */
async function openOnce(path: string): Promise<void> {
  const db = await Database.open(path, { readOnly: true })
  try {
    await db.rows('select count(*) from meta.columns')
  } finally {
    db.close()
  }
}

/** The file has no log while it is made: after a crash it is worth nothing. */
async function fillFile(temporary: string, options: Building, work: Work): Promise<Filled> {
  const { tempDirectory, signal } = options
  const limits = processLimits().build
  await using db = await Database.open(':memory:', { ...limits, tempDirectory })
  await using second = await db.another()
  const release = interruptOnAbort([db, second], signal)
  try {
    await attach(db, temporary)
    await second.run('use warehouse')
    const built = await fill({ ...options, db, second }, options, work)
    await second.run('use memory')
    await db.run('checkpoint warehouse; use memory; detach warehouse')
    return built
  } finally {
    release()
  }
}

async function attach(db: Database, temporary: string): Promise<void> {
  await db.run(
    `attach ${literal(temporary)} as warehouse (
      storage_version ${literal(STORAGE_VERSION)}, recovery_mode 'no_wal_writes'
    );
    use warehouse`,
  )
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
  const place = { ...options, dataFolder: dirname(options.target) }
  const hasLost = await watchReferences(db, referencesOf(work))
  if (!work.isPart) {
    await dropAllBut(db, relationsThatStay(work))
  }
  for (const node of snapshotsOf(work.chosen)) await loadSnapshot(db, node, place)
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
  const problems = [...made.failures, ...failures, ...wrong]
  const isKnownNow = problems.length === 0 && (options.asOf ?? null) === null
  const taken = options.retry === true ? work.all : work.chosen
  if (isKnownNow) for (const node of snapshotsOf(taken)) await saveSnapshot(db, node, place)
  return {
    built: { models, unitTests, checks, freshness },
    contents: await contentsOf(db, work),
    problems,
  }
}

function snapshotsOf(models: readonly ModelNode[]): ModelNode[] {
  return models.filter(({ snapshot }) => snapshot !== null)
}

function referencesOf({ known }: Work): Reference[] {
  return [...known].flatMap(({ reference }) => reference ?? [])
}

/** Tables that are brought up to date, and views that stand: all others are built again. */
function relationsThatStay({ chosen, kept, standing }: Work): string[] {
  return chosen
    .filter(({ name }) => kept.has(name) || standing.has(name))
    .map(({ relation }) => relation)
}

async function removeLeftovers(target: string, copy: Copy | undefined): Promise<void> {
  for (const { name } of await listIfThere(dirname(target))) {
    if (nameOfTemporary(name) !== basename(target) || name === basename(copy?.path ?? '')) continue
    await removeFile(join(dirname(target), name))
  }
}

async function removeDatabase(path: string): Promise<void> {
  await removeFile(path)
  await removeFile(walOf(path))
}

function walOf(path: string): string {
  return `${path}.wal`
}
