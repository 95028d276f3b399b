import { AppError, messageOf } from '../../lib/errors.ts'
import { identifier, type Database } from '../../lib/duckdb.ts'
import { commentsIn, commentsOf, commentsSql } from '../publish/comments.ts'
import type { BuildContext } from './build-context.ts'
import { ProjectError, StatementError } from '../project/errors.ts'
import { refuseInfinite, type Columns } from './finite.ts'
import { increment } from './incremental.ts'
import type { BuildPlan, NodePlan } from './plan.ts'
import { runScheduled } from './scheduler.ts'
import { suggestion } from '../../lib/text.ts'
import { explainSeed, proveSeed } from '../project/seed-table.ts'
import { takeSnapshot } from '../project/snapshot-table.ts'
import type { Making, ModelNode, Seed, UnitTestNode } from '../project/types.ts'
import { runUnitTests, type UnitTestResult } from '../checks/unit-tests.ts'

export interface BuiltModel {
  readonly name: string
  /** Null for a view. */
  readonly rows: number | null
  /** Intervals that were built again, where not the whole model was. */
  readonly intervals?: number
  readonly durationMs: number
}

export interface BuiltModels {
  readonly models: readonly BuiltModel[]
  readonly unitTests: readonly UnitTestResult[]
  /** Why models could not be made. */
  readonly failures: readonly AppError[]
  /** Models that could not be made, and those that read them. */
  readonly missing: ReadonlySet<string>
}

/**
 * Builds the models into the database in use, each after those that it reads and
 * after its unit tests, as the plan says of each: incremental ones, which are the
 * large ones, one by one, and the others at the same time on the second connection. Their descriptions become
 * comments where the first one waits. A model that reads one which could not be
 * built is skipped; the others are built nevertheless.
 *
 * The failures are ChecksFailedErrors of unit tests and of doubles that are no
 * finite numbers, StatementErrors where DuckDB refuses a model, ProjectErrors
 * where its columns are not those of its yml.
 */
export async function buildModels(
  context: BuildContext,
  nodes: readonly ModelNode[],
  plan: Pick<BuildPlan, 'nodes' | 'unitTests'>,
): Promise<BuiltModels> {
  for (const schema of new Set(nodes.map((node) => node.schema))) {
    await context.db.run(`create schema if not exists ${identifier(schema)}`)
  }
  const kinds = await kindsOf(context.db)
  const commented = await commentsIn(context.db)
  const models = new Map<string, BuiltModel>()
  const results = new Map<string, readonly UnitTestResult[]>()
  const failures = new Map<string, AppError>()
  const missing = new Set<string>()
  const actionFor = (node: ModelNode): Action => {
    const action = plan.nodes.get(node.name)?.action ?? 'create'
    if (action !== 'reuse' || kinds.get(node.relation) === kindOf(node)) return action
    return node.increment === null ? 'create' : 'update'
  }
  const buildNode = async (node: ModelNode): Promise<void> => {
    const { name } = node
    const own = { ...context, db: node.increment === null ? context.second : context.db }
    own.signal?.throwIfAborted()
    const lacking = node.dependsOn.filter((each) => missing.has(each))
    try {
      if (lacking.length > 0) reportSkipped(own, node, `not made: ${lacking.join(', ')}`)
      else {
        results.set(name, await testUnits(own, node, plan.unitTests))
        models.set(name, await buildModel(own, node, actionFor(node), kinds))
        return
      }
    } catch (error) {
      own.signal?.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      failures.set(name, error)
    }
    missing.add(name)
  }
  const describe = async (node: ModelNode): Promise<void> => {
    if (!missing.has(node.name)) await context.db.run(commentsSql(node))
  }
  const building = nodes.map((node) => ({
    name: node.name,
    dependsOn: node.dependsOn,
    isFirst: node.increment !== null,
    work: () => buildNode(node),
  }))
  const describing = nodes
    .filter(
      (node) => actionFor(node) !== 'reuse' || commented.get(node.relation) !== commentsOf(node),
    )
    .map((node) => ({
      name: `comments of ${node.name}`,
      dependsOn: [node.name],
      isFirst: true,
      work: () => describe(node),
    }))
  await runScheduled(
    [...building, ...describing],
    ({ isFirst }) => isFirst,
    ({ work }) => work(),
  )
  const inOrder = <T>(found: ReadonlyMap<string, T>): T[] =>
    nodes.flatMap(({ name }) => found.get(name) ?? [])
  return {
    models: inOrder(models),
    unitTests: inOrder(results).flat(),
    failures: inOrder(failures),
    missing,
  }
}

type Action = NodePlan['action']

async function testUnits(
  context: BuildContext,
  node: ModelNode,
  unitTests: readonly UnitTestNode[],
): Promise<UnitTestResult[]> {
  const own = unitTests.filter(({ model }) => model === node.name)
  try {
    return await runUnitTests(context, own)
  } catch (error) {
    reportSkipped(context, node, 'its unit tests failed')
    throw error
  }
}

function reportSkipped({ report, now }: BuildContext, { name }: ModelNode, message: string): void {
  const nothing = { startedAt: now(), durationMs: 0, failures: null }
  report({ kind: 'model', name, status: 'skipped', message, ...nothing })
}

async function buildModel(
  context: BuildContext,
  node: ModelNode,
  action: Action,
  kinds: Kinds,
): Promise<BuiltModel> {
  const { db, now, report } = context
  const { name } = node
  const startedAt = now()
  try {
    const made = await materialize(context, node, action, kinds)
    if (action !== 'reuse') {
      const columns = await compareColumns(db, node)
      await refuseInfinite(db, node, columns, action === 'update')
    }
    const rows = node.materialized === 'view' ? null : await countRows(db, node.relation)
    const durationMs = action === 'reuse' ? 0 : now() - startedAt
    return reportBuilt(context, { name, rows, ...made, durationMs })
  } catch (error) {
    const durationMs = now() - startedAt
    const message = messageOf(error)
    report({ kind: 'model', name, startedAt, failures: null, status: 'error', durationMs, message })
    throw error
  }
}

function reportBuilt({ emit, now, report }: BuildContext, built: BuiltModel): BuiltModel {
  const { name, durationMs, ...made } = built
  emit({ type: 'model.built', model: name, ...made, durationMs })
  const outcome = { kind: 'model', name, failures: null, status: 'success', message: null } as const
  report({ ...outcome, startedAt: now() - durationMs, durationMs })
  return built
}

async function materialize(
  { db, now }: BuildContext,
  node: ModelNode,
  action: Action,
  kinds: Kinds,
): Promise<Pick<BuiltModel, 'intervals'>> {
  if (action === 'reuse') return node.increment === null ? {} : { intervals: 0 }
  try {
    if (action === 'update' && node.increment !== null) {
      return { intervals: await increment(db, node, node.increment) }
    }
    if (node.snapshot !== null) await takeSnapshot(db, node, node.snapshot, now())
    else if (node.seed !== null) await createSeed(db, node, node.seed, kinds)
    else await create(db, node, ordered(node, node), kinds)
    return {}
  } catch (error) {
    if (error instanceof ProjectError) throw error
    throw new StatementError(`${node.file}: model '${node.name}': ${messageOf(error)}`, {
      cause: error,
    })
  }
}

async function createSeed(db: Database, node: ModelNode, seed: Seed, kinds: Kinds): Promise<void> {
  try {
    await create(db, node, ordered(node, node), kinds)
  } catch (error) {
    throw (await explainSeed(db, seed)) ?? error
  }
  await proveSeed(db, seed)
}

/** The model begins on the first line, so that a line in DuckDB's message is the file's. */
async function create(
  db: Database,
  node: ModelNode,
  { preHooks, sql }: Making,
  kinds: Kinds,
): Promise<void> {
  const kind = kinds.get(node.relation)
  // `create or replace` refuses to put a table where a view is, and the other way round.
  if (kind !== undefined && kind !== kindOf(node)) await db.run(`drop ${kind} ${node.relation}`)
  for (const hook of preHooks) await db.run(hook)
  await db.run(`create or replace ${kindOf(node)} ${node.relation} as ${sql}`)
}

function kindOf({ materialized }: ModelNode): 'view' | 'table' {
  return materialized === 'view' ? 'view' : 'table'
}

/**
 * A table that is made whole is stored in the order of its key: two builds make the same table, a filter on days reads few blocks, and strings pack better.
 */
function ordered(node: ModelNode, { preHooks, sql }: Making): Making {
  const key = keyOf(node).map(identifier).join(', ')
  if (node.materialized === 'view' || key === '') return { preHooks, sql }
  return { preHooks, sql: `select * from (${sql}\n) order by ${key}` }
}

/** The columns that the yml says are unique, together or one alone. */
export function keyOf(node: ModelNode): readonly string[] {
  for (const { column, arguments: test } of node.tests) {
    if (test.kind === 'unique_key') return test.columns
    if (test.kind === 'unique' && column !== null) return [column]
  }
  return []
}

type Kinds = ReadonlyMap<string, 'view' | 'table'>

/** What is there before the models are made, by schema and name. */
async function kindsOf(db: Database): Promise<Kinds> {
  const rows = await db.rows(
    `select table_schema || '.' || table_name as relation, table_type
    from information_schema.tables where table_catalog = current_database()`,
  )
  return new Map(
    rows.flatMap(({ relation, table_type: type }) =>
      typeof relation === 'string' ? [[relation, type === 'VIEW' ? 'view' : 'table']] : [],
    ),
  )
}

/** Returns the columns and their types. @throws ProjectError where they are not those of the yml. */
async function compareColumns(db: Database, node: ModelNode): Promise<Columns> {
  const { columns, types } = await db.table(`select * from ${node.relation} limit 0`)
  const described = new Set(node.columns.map((column) => column.name))
  for (const { name, place } of node.columns) {
    if (columns.includes(name)) continue
    throw new ProjectError(place, `model '${node.name}' has no column '${name}'`, {
      hint: suggestion(name, columns),
    })
  }
  const bare = columns.find((name) => !described.has(name))
  if (bare === undefined) return { columns, types }
  throw new ProjectError(node.documented, `column '${bare}' of '${node.name}' is not described`, {
    hint: `Describe it, or take it out of ${node.file}.`,
  })
}

async function countRows(db: Database, relation: string): Promise<number> {
  const [row] = await db.rows(`select count(*) as rows from ${relation}`)
  return Number(row?.['rows'] ?? 0)
}
