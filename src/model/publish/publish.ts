import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf, UsageError } from '../../lib/errors.ts'
import { Database } from '../../lib/duckdb.ts'
import {
  nameOfTemporary,
  temporaryPath,
  listIfThere,
  removeFile,
  syncFile,
} from '../../lib/files.ts'
import { publishFile } from '../../lake/published.ts'
import { writeArtifacts, type ArtifactOptions } from '../artifacts/write.ts'
import {
  executePlan,
  snapshotsOf,
  type Building,
  type BuildOptions,
  type BuildResult,
} from '../build/execute.ts'
import { compilePlan } from '../project/compile.ts'
import type { Contents } from './content.ts'
import { openBaseFile, readBaseFile, type BaseFile } from '../build/base-file.ts'
import type { WorkingCopy } from '../build/working-copy.ts'
import { forgetFailed, leaveFailed, recordFailed, type FailedFile } from '../build/failed-build.ts'
import type { FreshnessResult } from '../project/freshness.ts'
import type { Outcome, Report } from '../build/outcomes.ts'
import { mayBeDamaged, throwAll } from '../build/problems.ts'
import {
  continuesFromFile,
  fromScratch,
  isPartial,
  planBuild,
  refreshed,
  type BuildPlan,
  type NodePlan,
} from '../build/plan.ts'

/** What a build would do with each model, in its order. Writes nothing, and needs no lock. */
export async function planOfBuild(options: BuildOptions): Promise<readonly PlannedModel[]> {
  const baseFile = await readBaseFile(options.target)
  const { selected, nodes } = await planBuild(
    options,
    compilePlan(options.project, options),
    baseFile,
  )
  return selected.flatMap(({ name }) => {
    const node = nodes.get(name)
    return node === undefined ? [] : [{ model: name, ...node }]
  })
}

export type PlannedModel = NodePlan & { readonly model: string }

/** Opens the file to continue from, and decides what the build does. */
async function decide(options: BuildOptions): Promise<{ plan: BuildPlan; baseFile: BaseFile }> {
  const compiled = compilePlan(options.project, options)
  const snapshots = snapshotsOf(compiled.models)
  const warn = warnOfDamage(options)
  const baseFile = await openBaseFile({
    ...options,
    snapshots,
    isPartial: isPartial(options),
    warn,
  })
  try {
    return { plan: await planBuild(options, compiled, baseFile), baseFile }
  } catch (error) {
    if (baseFile.path !== null) await removeDatabase(baseFile.path)
    throw error
  }
}

function warnOfDamage({ emit }: Pick<BuildOptions, 'emit'>): (message: string) => void {
  return (message) => {
    emit({ type: 'warning', message, about: 'damage' })
  }
}

/**
 * Builds the warehouse in a new file next to the published one, checks it, and
 * puts it in its place whole. A reader that has the old file open keeps it. The
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
  const warn = warnOfDamage(options)
  const { plan, baseFile } = await decide(options)
  for (const [model, reason] of refreshed(plan)) emit({ type: 'model.refreshed', model, reason })
  const outcomes = new Map<string, Outcome>()
  const report: Report = (outcome) => {
    outcomes.set(`${outcome.kind} ${outcome.name}`, outcome)
  }
  let freshness: readonly FreshnessResult[] = []
  const reportFreshness = (results: readonly FreshnessResult[]): void => {
    freshness = results
  }
  const recordResults = (isPublished: boolean) =>
    writeResults(options, plan, {
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
    const built = await buildWithFallback(
      { ...options, warn, report, reportFreshness, leave },
      plan,
      baseFile,
    )
    await recordResults(true)
    return { ...built, durationMs: now() - startedAt }
  } catch (error) {
    await recordResults(false)
    for (const file of left) await recordFailed(file, runId, artifacts?.folder)
    throw error
  }
}

type Results = Pick<ArtifactOptions, 'outcomes' | 'freshness' | 'isPublished'> & {
  readonly startedAt: number
}

/** Artifacts that cannot be written take nothing from what is published. */
async function writeResults(
  options: BuildOptions,
  plan: BuildPlan,
  results: Results,
): Promise<void> {
  const { artifacts, project, sourceSql, target, runId, now, emit, select = null } = options
  if (artifacts === undefined) return
  const { folder, builder } = artifacts
  const { startedAt, ...rest } = results
  const invocation = { runId, startedAt, finishedAt: now(), builder }
  try {
    await writeArtifacts({
      ...{ folder, project, plan: plan.compiled, sourceSql, target, select, invocation },
      ...rest,
    })
  } catch (error) {
    emit({ type: 'warning', message: `${folder} could not be written: ${messageOf(error)}` })
  }
}

type Built = Omit<BuildResult, 'durationMs'>
/** Where the file that is continued from turns out to be damaged, everything is built again. */
async function buildWithFallback(
  options: Building,
  plan: BuildPlan,
  baseFile: BaseFile,
): Promise<Built> {
  try {
    return await buildFile(options, plan, baseFile)
  } catch (error) {
    if (!continuesFromFile(plan) || plan.isPartial || !mayBeDamaged(error)) throw error
    options.warn(
      `the published file could not be continued from, everything is built again: ${messageOf(error)}`,
    )
    return buildFile(options, fromScratch(plan), { ...baseFile, path: null })
  }
}

async function buildFile(options: Building, plan: BuildPlan, baseFile: BaseFile): Promise<Built> {
  const { target, signal, failedFile } = options
  const temporary = await beginFile(target, plan, baseFile)
  try {
    const { built, problems, contents } = await executePlan(temporary, options, plan)
    if (problems.length > 0) await options.leave(temporary)
    throwAll(problems)
    const bytes = (await isPublished(contents, options, baseFile, temporary))
      ? await discard(temporary, target, options)
      : await publish(temporary, contents, options, baseFile)
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
  plan: BuildPlan,
  { path, state }: BaseFile,
): Promise<string> {
  if (plan.isPartial && path !== null) return path
  if (plan.isPartial) {
    const what =
      state.problem === null
        ? `--select: there is no published warehouse yet: ${target}`
        : `--select: ${target} is not the file that was published: ${state.problem}`
    throw new UsageError(what, { hint: 'Build everything first: agent-warehouse build.' })
  }
  if (path !== null && continuesFromFile(plan)) return path
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
  { published, path }: BaseFile,
  temporary: string,
): Promise<boolean> {
  const isContinued = path === temporary && fullRefresh !== true
  if (!isContinued || published?.content !== content || published.meta !== meta) return false
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
  { published }: BaseFile,
): Promise<number> {
  const { target, runId, asOf = null, keep = 0, warn, now } = options
  await openOnce(temporary)
  await syncFile(temporary)
  const builtAt = new Date(now()).toISOString()
  const known = asOf === null ? null : new Date(asOf).toISOString()
  const publication = {
    target,
    runId,
    builtAt,
    asOf: known,
    ...contents,
    present: published,
    keep,
    warn,
  }
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

async function removeLeftovers(target: string, copy: WorkingCopy | undefined): Promise<void> {
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
