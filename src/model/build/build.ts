import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Database } from '../../lib/duckdb.ts'
import { AppError, UsageError } from '../../lib/errors.ts'
import { removeFile, removeTemporariesOf, temporaryPath } from '../../lib/files.ts'
import { warner } from '../../lib/world.ts'
import { publishFile } from '../../lake/published.ts'
import { writeArtifacts } from '../artifacts/write.ts'
import { failedChecks } from '../checks/run.ts'
import { compileProject } from '../project/compile.ts'
import { throwIfAny } from '../project/errors.ts'
import {
  isPartial,
  type BuildOptions,
  type NodePlan,
  type Outcome,
  type RunningBuild,
} from '../shared/context.ts'
import type { Contents } from '../shared/meta.ts'
import { planBuild, refreshed } from './build-plan.ts'
import { executePlan, snapshotsOf, type ExecutedPlan } from './execute.ts'
import {
  forgetFailed,
  keepFailed,
  openPrevious,
  readPrevious,
  type PreviousWarehouse,
} from './previous-warehouse.ts'

export type BuildResult = Pick<ExecutedPlan, 'models' | 'checks' | 'freshness'>

export interface PlannedModel extends Pick<NodePlan, 'action' | 'reason'> {
  readonly model: string
}

/**
 * Plans what a build would do with each model, in build order. Writes nothing, and needs no lock.
 *
 * @throws UsageError for a selection where the build has no file to continue from, and what
 *   `planBuild` throws.
 */
export async function planOfBuild(options: BuildOptions): Promise<readonly PlannedModel[]> {
  const compiled = compileProject(options.project, options)
  const previous = await readPrevious(options)
  const { state, published } = previous
  const isContinued = published !== null && state.problem === null
  if (isPartial(options) && !isContinued) throw nothingToContinue(options.target, state.problem)
  const { nodes } = await planBuild(options, compiled, previous)
  return nodes.map(({ node, action, reason }) => ({ model: node.name, action, reason }))
}

/**
 * Builds the warehouse in a new file next to the published one, checks it, and
 * replaces the published one atomically. Readers that have the old file open keep it. The
 * caller holds the lock of the data folder: leftovers of a crash are removed.
 *
 * @throws ChecksFailedError when a unit test fails, a check of severity error has failures or a
 * number is infinite, StatementError when DuckDB refuses a model or a check, UsageError for a
 * selection with nothing published yet, ProjectError. The published file is then untouched.
 */
export async function buildAndPublish(options: BuildOptions): Promise<BuildResult> {
  const { target, tempDirectory } = options
  await mkdir(dirname(target), { recursive: true })
  await mkdir(tempDirectory, { recursive: true })
  await removeTemporariesOf(target)
  try {
    return await planAndBuild(options)
  } finally {
    await removeUnpublished(target)
  }
}

/** Removes what was neither published nor kept; if this fails, the next build does it. */
async function removeUnpublished(target: string): Promise<void> {
  await removeTemporariesOf(target).catch(() => undefined)
}

async function planAndBuild(options: BuildOptions): Promise<BuildResult> {
  const { target, now, emit, signal } = options
  const startedAt = now()
  const outcomes = new Map<string, Outcome>()
  const build: RunningBuild = {
    ...options,
    warn: warner({ emit }, 'damage'),
    report: (outcome) => {
      const all = { durationMs: 0, message: null, failures: null, ...outcome }
      outcomes.set(`${outcome.kind} ${outcome.name}`, all)
    },
  }
  const compiled = compileProject(options.project, options)
  const previous = await openPrevious(build, snapshotsOf(compiled.models))
  const plan = await planBuild(build, compiled, previous)
  for (const [model, reason] of refreshed(plan)) emit({ type: 'model.refreshed', model, reason })
  const results = { startedAt, outcomes, freshness: NOTHING_CHECKED }
  try {
    const path = await beginFile(target, plan.isInNewFile, previous)
    const executed = await executePlan(path, build, plan).catch((error: unknown) => {
      signal?.throwIfAborted() // a signal is no problem of the build, and says itself what to do
      if (error instanceof AppError) throwIfAny([error])
      throw error
    })
    const { contents, relations, models, checks, freshness, failures, examples } = executed
    results.freshness = freshness
    if (executed.hasFailed) {
      const kept = await keepFailed(path, options)
      const problems = [...failures, ...failedChecks(checks, examples, kept)]
      throwIfAny(problems, kept, canRetry(kept, options))
    }
    await publish(path, contents, build, plan.isInNewFile, previous)
    await forgetFailed(options.failedFile)
    await writeArtifacts(build, compiled, { ...results, relations })
    return { models, checks, freshness }
  } catch (error) {
    await removeUnpublished(target) // on a full disk, there is no room for the artifacts until then
    await writeArtifacts(build, compiled, results)
    signal?.throwIfAborted()
    throw error
  }
}

/** `--retry` refuses builds with `--as-of`, and those of Spark, which builds all models. */
function canRetry(kept: string | undefined, { asOf, spark }: BuildOptions): boolean {
  return kept !== undefined && asOf === null && spark === undefined
}

const NOTHING_CHECKED: ExecutedPlan['freshness'] = []

/** The path of the new file: the copy of the published file, unless nothing in it can be reused. */
async function beginFile(
  target: string,
  isInNewFile: boolean,
  { path, state }: PreviousWarehouse,
): Promise<string> {
  if (isInNewFile) {
    if (path !== null) await removeFile(path) // the disk needs room for two files, not three
    return temporaryPath(target)
  }
  if (path !== null) return path
  throw nothingToContinue(target, state.problem)
}

function nothingToContinue(target: string, problem: string | null): UsageError {
  const what =
    problem === null
      ? `only some models are selected, but there is no published warehouse yet: ${target}`
      : `only some models are selected, but ${target} is not the file that was published: ${problem}`
  return new UsageError(what, { hint: 'Build everything first: agent-warehouse build.' })
}

/**
 * Replaces the published file with the finished one at `path`, unless that is a copy of the
 * published file whose content, `meta` and point in time are still the same.
 */
async function publish(
  path: string,
  contents: Contents,
  build: RunningBuild,
  isInNewFile: boolean,
  { published }: PreviousWarehouse,
): Promise<void> {
  const { target, runId, asOf, keep, warn, now, emit, fullRefresh } = build
  const knownAt = asOf === null ? null : new Date(asOf).toISOString()
  const isSame =
    published?.content === contents.content &&
    published.meta === contents.meta &&
    published.asOf === knownAt
  if (!isInNewFile && !fullRefresh && isSame && (await canBeOpened(target))) {
    emit({ type: 'warehouse.unchanged', path: target })
    return
  }
  await openOnce(path)
  const bytes = await publishFile(path, {
    target,
    runId,
    builtAt: new Date(now()).toISOString(),
    asOf: knownAt,
    ...contents,
    present: published,
    keep,
    warn,
  })
  emit({ type: 'warehouse.published', path: target, bytes })
}

/** False while another program has the file open for writing. */
function canBeOpened(path: string): Promise<boolean> {
  return openOnce(path).then(
    () => true,
    () => false,
  )
}

/** Opens the file as readers will: a file that cannot be opened is not published. */
async function openOnce(path: string): Promise<void> {
  await using db = await Database.open(path, { readOnly: true })
  await db.rows('select count(*) from meta.columns')
}
