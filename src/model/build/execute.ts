import { AppError } from '../../lib/errors.ts'
import { Database, listLiteral, literal } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import { statement } from '../../lib/package.ts'
import {
  isPartial,
  reportSkipped,
  type BuildContext,
  type RunningBuild,
  type BuildPlan,
  type NodePlan,
} from '../shared/context.ts'
import { checkFreshness, type FreshnessResult } from '../checks/freshness.ts'
import { failuresTable, type CheckResult } from '../shared/checks.ts'
import {
  forgetFailures,
  runChecks,
  storeFailures,
  watchReferences,
  type Examples,
} from '../checks/run.ts'
import { runUnitTests } from '../checks/unit-tests.ts'
import type { ModelNode } from '../project/types.ts'
import {
  contentsOf,
  writeCheckResults,
  writeColumns,
  writeModels,
  type Contents,
} from '../shared/meta.ts'
import { engineOf, STORAGE_VERSION } from './previous-warehouse.ts'
import { commentsSql, createSchemas, relationsIn, type Relations } from '../shared/relations.ts'
import { runScheduled } from '../../lib/concurrency.ts'
import { materialize, type BuiltModel, type BuiltModels } from '../engines/materialize.ts'
import { loadSnapshot, saveSnapshot } from '../engines/snapshots.ts'
import { buildOnSpark } from '../engines/spark.ts'

export interface ExecutedPlan {
  readonly models: readonly BuiltModel[]
  readonly checks: readonly CheckResult[]
  readonly freshness: readonly FreshnessResult[]
  /** Whether a model, a unit test or a check failed: then the file cannot be published. */
  readonly hasFailed: boolean
  /** The errors of everything that failed, except of checks that found wrong rows. */
  readonly failures: readonly AppError[]
  /** Some of the rows that each check found wrong. */
  readonly examples: Examples
  readonly contents: Contents
  readonly relations: Relations
}

/**
 * Executes the plan in the file at `path`, which is complete on disk afterwards. The file has no
 * log while it is built, so it cannot be used after a crash.
 */
export async function executePlan(
  path: string,
  build: RunningBuild,
  plan: BuildPlan,
): Promise<ExecutedPlan> {
  const { limits = processLimits().build, tempDirectory, signal } = build
  const options = { ...limits, tempDirectory, signal }
  await using db = await Database.open(':memory:', options)
  await using second = await db.another()
  await db.run(
    `attach ${literal(path)} as warehouse (
      storage_version ${literal(STORAGE_VERSION)}, recovery_mode 'no_wal_writes'
    );
    use warehouse`,
  )
  await db.run("set checkpoint_threshold = '1TB'")
  await second.run('use warehouse')
  const executed = await buildAndCheck({ ...build, db, second, tableColumns: new Map() }, plan)
  await second.run('use memory')
  await db.run('checkpoint warehouse; use memory; detach warehouse')
  return executed
}

/** Builds the models, runs the checks, and writes the records and snapshots. */
async function buildAndCheck(context: BuildContext, plan: BuildPlan): Promise<ExecutedPlan> {
  const { db, now, runId, project, sourceSql, retry, asOf, spark } = context
  const hasRemovedValues = await watchReferences(db, plan)
  await dropRelations(context, plan)
  for (const { relation, sql, ...node } of plan.movedViews) {
    const create = `create or replace view ${relation} as ${sql}`
    await db.run(`${create};\n${commentsSql({ ...node, relation })}`)
  }
  const selected = plan.nodes.map(({ node }) => node)
  for (const node of snapshotsOf(selected)) await loadSnapshot(db, node, context)
  if (retry) await forgetFailures(db)
  const built =
    spark === undefined
      ? await buildModels(context, plan)
      : await buildOnSpark(context, plan, spark, (nodes) =>
          buildModels(context, { ...plan, nodes }),
        )
  const { models, missing, counted } = built
  await db.run(statement('meta/build_tables'))
  await context.meta?.(db)
  const freshness = await checkFreshness(context, project.sources, sourceSql)
  const checked = await runChecks(context, plan.checks, {
    hasRemovedValues,
    missing,
    counted,
  })
  const examples = await storeFailures(db, checked.results)
  await writeCheckResults(db, plan.checks, checked.results, { runId, checkedAt: now() })
  await writeModels(db, plan, missing, { runId, engine: await engineOf(db, spark) })
  await writeColumns(db, plan.compiled.models)
  const failures = [...built.failures, ...checked.failures]
  const hasFailed = failures.length > 0 || checked.results.some(({ status }) => status === 'fail')
  if (!hasFailed && asOf === null) {
    // the failed build wrote none, so a retry writes also those that it built
    for (const node of snapshotsOf(retry ? plan.compiled.models : selected)) {
      await saveSnapshot(db, node, context)
    }
  }
  const relations = await relationsIn(db)
  const contents = await contentsOf(db, plan, relations)
  const { results: checks } = checked
  return { models, checks, freshness, hasFailed, failures, examples, contents, relations }
}

export function snapshotsOf(models: readonly ModelNode[]): ModelNode[] {
  return models.filter(({ snapshot }) => snapshot !== null)
}

/**
 * Drops the relations that the plan creates and, unless the build is partial, all that it does
 * not reuse or update. The result is the same as in a new file, and the checkpoint frees the
 * space.
 */
async function dropRelations(
  context: BuildContext,
  { nodes, checks, relations }: BuildPlan,
): Promise<void> {
  const { db } = context
  const isWhole = !isPartial(context)
  const created = new Set<string>()
  const others = new Set<string>()
  for (const { node, action } of nodes) (action === 'create' ? created : others).add(node.relation)
  for (const check of checks) {
    if (check.scope === 'none' && check.store_failures) others.add(failuresTable(check))
  }
  const drops = [...relations]
    .filter(([name]) => (isWhole ? !others.has(name) : created.has(name)))
    .map(([, { kind, sql }]) => `drop ${kind} ${sql}`)
  if (drops.length > 0) await db.run(`${drops.join(';\n')}; checkpoint`)
  if (isWhole) await forgetRemovedFacts(db, nodes)
}

/** Deletes the days that a reused `int_fact_days` has of facts that no longer record theirs. */
async function forgetRemovedFacts(db: Database, nodes: readonly NodePlan[]): Promise<void> {
  const recorded = nodes.find(({ node }) => node.name === 'int_fact_days')
  if (recorded === undefined || recorded.action === 'create') return
  const facts = nodes.filter(({ node }) => node.hookRefs.includes(recorded.node.name))
  const names = listLiteral(facts.map(({ node }) => node.name))
  await db.run(
    `delete from ${recorded.node.relation}
    where not list_contains(cast(${names} as varchar[]), fact_name)`,
  )
}

/**
 * Builds each model after the models that it reads, and after its unit tests, two at a time.
 * Incremental models run on the first connection, because checks of the replaced intervals do.
 * Comments are written while no model is ready. A model that reads a failed one is skipped; the
 * others are still built.
 */
async function buildModels(context: BuildContext, plan: BuildPlan): Promise<BuiltModels> {
  const { nodes } = plan
  await createSchemas(
    context.db,
    nodes.map(({ node }) => node),
  )
  const models = new Map<string, BuiltModel>()
  const failures = new Map<string, AppError>()
  const missing = new Set<string>()
  const buildNode = async (planned: NodePlan, db: Database): Promise<void> => {
    const { name, dependsOn } = planned.node
    const own = { ...context, db }
    own.signal?.throwIfAborted()
    const lacking = dependsOn.filter((each) => missing.has(each))
    try {
      if (lacking.length > 0) {
        missing.add(name)
        reportSkipped(own, 'model', name, `not built: ${lacking.join(', ')}`)
        return
      }
      await runUnitTests(own, name, plan)
      models.set(name, await materialize(own, planned))
    } catch (error) {
      own.signal?.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      missing.add(name)
      failures.set(name, error)
    }
  }
  const creating = nodes.map((planned) => ({
    name: planned.node.name,
    dependsOn: planned.node.dependsOn,
    isPinned: planned.node.increment !== null,
    work: (db: Database) => buildNode(planned, db),
  }))
  const describing = nodes
    .filter(({ isDescribed }) => !isDescribed)
    .map(({ node }) => ({
      name: `comments of ${node.name}`,
      dependsOn: [node.name],
      isPinned: false,
      work: async (db: Database) => {
        if (missing.has(node.name)) return
        // alone, each of the comments would be written to disk
        await db.transaction(() => db.run(commentsSql(node)))
      },
    }))
  await runScheduled([...creating, ...describing], [context.db, context.second], ({ work }, db) =>
    work(db),
  )
  const inOrder = <T>(found: ReadonlyMap<string, T>): T[] =>
    nodes.flatMap(({ node }) => found.get(node.name) ?? [])
  return { models: inOrder(models), failures: inOrder(failures), missing }
}
