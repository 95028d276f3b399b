import type { AppError } from '../../lib/errors.ts'
import type { RunEvent } from '../../lib/events.ts'
import { Database, literal } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import { dirname } from 'node:path'
import { buildModels, type BuiltModel } from './build.ts'
import type { BuildContext } from './build-context.ts'
import { dropAllBut } from './drop-unused.ts'
import { failedChecks, forgetFailures, storeFailures } from './failures.ts'
import type { Report } from './outcomes.ts'
import type { BuildPlan, PlanOptions } from './plan.ts'
import { loadSnapshot, saveSnapshot } from './snapshots.ts'
import type { WorkingCopy } from './working-copy.ts'
import { runChecks, type CheckResult } from '../checks/checks.ts'
import type { UnitTestResult } from '../checks/unit-tests.ts'
import { STORAGE_VERSION } from '../engines/duckdb.ts'
import { checkFreshness, type FreshnessResult } from '../project/freshness.ts'
import { watchReferences } from '../project/references.ts'
import type { ModelNode } from '../project/types.ts'
import { contentsOf, type Contents } from '../publish/content.ts'
import { createMeta, writeCheckResults, writeColumns, writeModels } from '../publish/meta.ts'

export interface BuildOptions extends PlanOptions {
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
  readonly copy?: WorkingCopy
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

export interface Building extends BuildOptions {
  readonly report: Report
  readonly reportFreshness: (results: readonly FreshnessResult[]) => void
  readonly warn: (message: string) => void
  /** Keeps a file that is not published for inspection and a retry. */
  readonly leave: (temporary: string) => Promise<void>
}

export interface Filled {
  readonly built: Omit<BuildResult, 'bytes' | 'durationMs'>
  readonly problems: readonly AppError[]
  readonly contents: Contents
}

/**
 * Executes the plan in the file at `temporary`: models, checks, records. The file has no log
 * while it is built: after a crash it is worth nothing.
 */
export async function executePlan(
  temporary: string,
  options: Building,
  plan: BuildPlan,
): Promise<Filled> {
  const { tempDirectory, signal } = options
  const limits = processLimits().build
  await using db = await Database.open(':memory:', { ...limits, tempDirectory })
  await using second = await db.another()
  const release = interruptOnAbort([db, second], signal)
  try {
    await attach(db, temporary)
    await second.run('use warehouse')
    const built = await fill({ ...options, db, second }, options, plan)
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

async function fill(context: BuildContext, options: Building, plan: BuildPlan): Promise<Filled> {
  const { db, now } = context
  const place = { ...options, dataFolder: dirname(options.target) }
  const references = [...plan.onChangedRows].flatMap(({ reference }) => reference ?? [])
  const hasLostRows = await watchReferences(db, references)
  if (!plan.isPartial) {
    await dropAllBut(db, relationsThatStay(plan))
  }
  for (const node of snapshotsOf(plan.selected)) await loadSnapshot(db, node, place)
  if (options.retry === true) await forgetFailures(db)
  const made = await buildModels(context, plan.selected, plan)
  const { models, unitTests, missing } = made
  await createMeta(db)
  await options.meta?.(db)
  const freshness = await checkFreshness(context, options.project.sources, options.sourceSql)
  options.reportFreshness(freshness)
  const { results: checks, failures } = await runChecks(
    context,
    plan.checks,
    { ...plan, hasLostRows },
    missing,
  )
  const examples = await storeFailures(db, checks)
  await writeCheckResults(db, checks, options.runId, now())
  const selected = plan.selected.filter(({ name }) => !missing.has(name))
  await writeModels(db, { ...plan, selected }, options.runId)
  await writeColumns(db, plan.all)
  const wrong = failedChecks(checks, examples, options.failedFile?.path)
  const problems = [...made.failures, ...failures, ...wrong]
  const isKnownNow = problems.length === 0 && (options.asOf ?? null) === null
  const taken = options.retry === true ? plan.all : plan.selected
  if (isKnownNow) for (const node of snapshotsOf(taken)) await saveSnapshot(db, node, place)
  return {
    built: { models, unitTests, checks, freshness },
    contents: await contentsOf(db, plan),
    problems,
  }
}

/** Tables and views of the file that are updated or reused: all others are built again. */
function relationsThatStay({ selected, nodes }: BuildPlan): string[] {
  return selected
    .filter(({ name }) => nodes.get(name)?.action !== 'create')
    .map(({ relation }) => relation)
}

export function snapshotsOf(models: readonly ModelNode[]): ModelNode[] {
  return models.filter(({ snapshot }) => snapshot !== null)
}
