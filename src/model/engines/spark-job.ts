import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { literal, type Database } from '../../lib/duckdb.ts'
import { grouped } from '../../lib/grouped.ts'
import type { BuildContext, SparkEngine, BuildPlan, NodePlan } from '../shared/context.ts'
import { checksOf, type Check, type PlannedCheck } from '../shared/checks.ts'
import { differencesSql } from '../checks/unit-tests.ts'
import { compileProject } from '../project/compile.ts'
import { labelErrors } from '../project/errors.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import { createSchemas } from '../shared/relations.ts'
import { writableRows } from './snapshots.ts'
import { lineageOf } from '../project/select.ts'

interface CountedTogether {
  readonly name: string
  readonly checks: readonly Check[]
  readonly sql: string
  readonly reads: readonly string[]
}

/** The job of the driver program; its responses name the checks. */
export interface SparkJob {
  readonly path: string
  readonly checks: ReadonlyMap<string, CountedTogether>
}

/** The number of concurrent statements: one is planned while another runs. */
const THREADS = 4

/**
 * Writes the input of the driver program into `folder`: its statements, and the tables that they
 * read. DuckDB declares the tables that Spark makes, which decides the types of their columns, and
 * removes the outdated intervals of tables that Spark updates.
 */
export async function writeJob(
  context: BuildContext,
  spark: SparkEngine,
  { compiled: { models: all }, unitTests }: BuildPlan,
  { due, nodes, given, checks }: SparkPlan,
  folder: string,
): Promise<SparkJob> {
  const { db, project, vars } = context
  const compiled = compileProject(project, {
    engine: 'spark',
    vars,
    sourceSql: (source, table) => `${source}.${table}`,
  })
  await createSchemas(
    db,
    due.map(({ node }) => node),
  )
  for (const planned of due) await prepare(db, planned)

  const urlOf = (path: string): string => spark.urlOf(join(folder, path))
  const exported = async (node: ModelNode): Promise<string> => {
    const file = `given-${node.name}.parquet`
    const rows = await writableRows(db, node)
    await db.run(`copy (${rows}) to ${literal(join(folder, file))} (format parquet)`)
    return urlOf(file)
  }
  const tables = []
  for (const node of given) tables.push({ relation: node.relation, path: await exported(node) })

  const actions = new Map(due.map(({ node, action }) => [node.name, action]))
  const ownOf = new Map(compiled.models.map((node) => [node.name, node]))
  const sqlOf = new Map(compiled.unitTests.map((test) => [test.name, test.sql]))
  const statements = []
  for (const node of nodes) {
    const { name, relation, dependsOn } = node
    const { sql, increment } = ownOf.get(name) ?? node
    const isUpdate = actions.get(name) === 'update'
    const tests = []
    for (const test of unitTests.filter(({ model }) => model === name && actions.has(name))) {
      const sql = await differencesSql(context, test, sparkType, sqlOf.get(test.name))
      tests.push({ name: test.name, sql })
    }
    // a view that reads others is computed once, not once for each reader
    const isFile = kindOf(node) === 'table' || dependsOn.length > 0
    statements.push({
      name,
      relation,
      sql: isUpdate ? increment?.sql : sql,
      reads: dependsOn,
      path: isFile ? urlOf(name) : null,
      kept: isUpdate ? await exported(node) : null,
      key: node.unique_key,
      tests,
    })
  }

  const sources = new Set(nodes.flatMap((node) => node.sources))
  for (const relation of sources) {
    const [source = '', table = ''] = relation.split('.')
    tables.push({ relation, path: spark.sourceUrl(source, table) })
  }
  const isCounted = new Set(checks.map(({ check }) => check))
  const counts = together(
    checksOf(compiled, compiled.models).filter(({ check }) => isCounted.has(check)),
  )
  const path = join(folder, 'job.json')
  const job = {
    schemas: [...new Set([...tables.map(schemaOf), ...all.map(({ schema }) => schema)])],
    given: tables,
    made: given.map(({ name }) => name),
    nodes: statements,
    checks: counts.map(({ name, sql, reads }) => ({ name, sql, reads })),
    threads: THREADS,
  }
  await writeFile(path, JSON.stringify(job))
  return { path, checks: new Map(counts.map((each) => [each.name, each])) }
}

function schemaOf({ relation }: { readonly relation: string }): string {
  return relation.split('.')[0] ?? ''
}

/** Makes the view, or the table without rows; removes the outdated rows of a table to update. */
async function prepare(db: Database, { node, action }: NodePlan): Promise<void> {
  const { relation, sql, file, name, increment } = node
  const isView = kindOf(node) === 'view'
  const rows = isView ? sql : `select * from (${sql}\n) limit 0`
  const statements =
    action === 'update' && increment !== null
      ? increment.preHooks
      : [`create or replace ${kindOf(node)} ${relation} as ${rows}`]
  await labelErrors(`${file}: model '${name}'`, async () => {
    for (const each of statements) await db.run(each)
  })
}

/** What one pass over a relation counts is counted together. */
function together(checks: readonly Check[]): CountedTogether[] {
  const groups = grouped(checks, ({ check, count }) =>
    count === undefined ? check : `values of ${count.in}`,
  )
  return [...groups].map(([name, group]) => {
    const counts = group.flatMap(({ count }) => count ?? [])
    const [first] = group
    const sql =
      counts[0] === undefined
        ? `select count(*) from (${first.sql}\n)`
        : `select ${counts.map(({ of }) => sparkCount(of)).join(', ')} from ${counts[0].in}`
    return { name, checks: group, sql, reads: first.reads }
  })
}

/** Spark's `hash` has 32 bits, which are too few to tell a million keys apart. */
function sparkCount(of: string): string {
  return of.replace('distinct hash(', 'distinct xxhash64(')
}

const SPARK_TYPES: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  HUGEINT: 'decimal(38, 0)',
  INTEGER: 'int',
  TIMESTAMP: 'timestamp_ntz',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
}

/** DuckDB's type as Spark spells it. */
export function sparkType(type: string): string {
  if (type.endsWith('[]')) return `array<${sparkType(type.slice(0, -2))}>`
  return SPARK_TYPES[type] ?? type
}

/** The parts of a build that run on Spark and on DuckDB. */
interface SparkPlan {
  /** The models that DuckDB makes: inputs of the others, and reused ones. */
  readonly here: readonly NodePlan[]
  /** The models that Spark makes: all created or updated ones that are no inputs. */
  readonly due: readonly NodePlan[]
  /** All views and tables that Spark makes: those that are due, and the views that these read. */
  readonly nodes: readonly ModelNode[]
  /** Tables that Spark reads and does not make. */
  readonly given: readonly ModelNode[]
  /** The checks that read all rows of models made by Spark. DuckDB runs the others. */
  readonly checks: readonly PlannedCheck[]
}

/** Divides the plan. If nothing is due, Spark is not started. */
export function planSpark({ compiled: { models: all }, nodes, checks }: BuildPlan): SparkPlan {
  const inputs = inputsOf(all)
  const isHere = ({ node, action }: NodePlan): boolean =>
    action === 'reuse' || inputs.has(node.name)
  const due = nodes.filter((each) => !isHere(each))
  const made = new Set(due.map(({ node }) => node.name))
  const isGiven = (node: ModelNode): boolean => !made.has(node.name) && kindOf(node) === 'table'
  const tables = new Set(all.filter(isGiven).map(({ name }) => name))
  const counted = checks.filter(
    ({ scope, reads }) =>
      made.size > 0 && scope === 'all' && reads.some((name) => !tables.has(name)),
  )
  const nodesRead = all.map((node) => (isGiven(node) ? { ...node, dependsOn: [] } : node))
  const read = lineageOf([...made, ...counted.flatMap(({ reads }) => reads)], nodesRead)
  const present = all.filter(({ name }) => read.has(name))
  return {
    here: nodes.filter(isHere),
    due,
    nodes: present.filter((node) => !isGiven(node)),
    given: present.filter(isGiven),
    checks: counted,
  }
}

/**
 * The names of seeds, of snapshots and the models that they read, and of models that decide which
 * intervals of incremental models are outdated.
 */
function inputsOf(models: readonly ModelNode[]): ReadonlySet<string> {
  const own = models.filter(({ seed, snapshot }) => seed !== null || snapshot !== null)
  const names = [...own.map(({ name }) => name), ...models.flatMap(({ hookRefs }) => hookRefs)]
  return lineageOf(names, models)
}
