import { grouped } from '../../lib/grouped.ts'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { identifier, literal, type Database, type Row } from '../../lib/duckdb.ts'
import { AppError } from '../../lib/errors.ts'
import { reportSkipped, type BuildContext, type SparkEngine } from '../build/context.ts'
import type { BuildPlan, NodePlan } from '../build/plan.ts'
import { planChecks, type Check } from '../checks/plan.ts'
import type { Counted } from '../checks/run.ts'
import { differencesSql, runUnitTests, type UnitTestResult } from '../checks/unit-tests.ts'
import { compileProject } from '../project/compile.ts'
import { StatementError } from '../project/errors.ts'
import { reach } from '../project/select.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import { commentsSql } from './duckdb.ts'
import { createSchemas, materialize, type BuiltModel, type BuiltModels } from './materialize.ts'
import { writableRows } from './snapshots.ts'
import { sparkStopped, submit } from './spark-submit.ts'

/** What Spark made: the models, and what the checks count in them. */
export interface BuiltOnSpark extends BuiltModels {
  readonly counted: ReadonlyMap<string, Counted>
  /** Spark's version. */
  readonly engine: string
}

/** Statements at once: one plans while another runs. */
const THREADS = 4

/**
 * Builds the models and runs their checks on Spark. Seeds and snapshots are made by DuckDB, as is
 * what a snapshot reads: they are input. Of the others DuckDB says the columns and their types,
 * Spark makes the rows, and its Parquet files are loaded as each model is finished.
 *
 * @throws AppError where Spark does not come to the end of its job.
 */
export async function buildOnSpark(
  context: BuildContext,
  plan: BuildPlan,
  spark: SparkEngine,
  buildHere: (nodes: readonly NodePlan[]) => Promise<BuiltModels>,
): Promise<BuiltOnSpark> {
  const here = inputsOf(plan.all)
  const inputs = await buildHere(plan.nodes.filter(({ node }) => here.has(node.name)))
  throwFirst(inputs.failures)
  const folder = join(spark.folder, context.runId)
  await rm(spark.folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  try {
    const job = await writeJob(context, plan, spark, { folder, here })
    const loader = new Loader(context, plan, { spark, folder, job, inputs })
    await submit(spark, {
      job: join(folder, 'job.json'),
      folder,
      folderUrl: spark.urlOf(folder),
      signal: context.signal,
      onLine: (line) => {
        loader.take(line)
      },
      warn: (message) => {
        context.emit({ type: 'warning', message })
      },
    }).catch((error: unknown) => {
      throw loader.stopped ?? error
    })
    return await loader.result()
  } finally {
    await rm(spark.folder, { recursive: true, force: true })
  }
}

function throwFirst([first]: readonly AppError[]): void {
  if (first !== undefined) throw first
}

/** The names of seeds, of snapshots, and of all that a snapshot is made from. */
function inputsOf(models: readonly ModelNode[]): ReadonlySet<string> {
  const edges = new Map(models.map(({ name, dependsOn }) => [name, dependsOn]))
  const own = models.filter(({ seed, snapshot }) => seed !== null || snapshot !== null)
  const names = own.map(({ name }) => name)
  return new Set([...names, ...reach(names, edges)])
}

/** The checks that one statement counts. */
interface CountedTogether {
  readonly name: string
  readonly checks: readonly Check[]
  readonly sql: string
  readonly reads: readonly string[]
}

interface Job {
  /** By the name of the statement. */
  readonly checks: ReadonlyMap<string, CountedTogether>
}

/** Where the job is, and which models Spark is given. */
interface JobPlace {
  readonly folder: string
  readonly here: ReadonlySet<string>
}

/** Writes what the driver program reads, and the tables that it is given. */
async function writeJob(
  context: BuildContext,
  plan: BuildPlan,
  spark: SparkEngine,
  { folder, here }: JobPlace,
): Promise<Job> {
  const { db, project, vars } = context
  const compiled = compileProject(project, {
    engine: 'spark',
    vars,
    sourceSql: (source, table) => `${source}.${table}`,
  })
  const isGiven = (node: ModelNode): boolean => here.has(node.name) && kindOf(node) === 'table'
  const own = plan.all.filter((node) => !here.has(node.name))
  await createSchemas(db, own)
  for (const node of own) await declare(db, node)
  const checks = together(planChecks(compiled, compiled.models))
  const urlOf = (path: string): string => spark.urlOf(join(folder, path))
  const sqlOf = new Map(compiled.unitTests.map((test) => [test.name, test.sql]))
  const nodes = []
  for (const { name, relation, sql, dependsOn, ...node } of compiled.models) {
    if (isGiven({ name, relation, sql, dependsOn, ...node })) continue
    const tests = []
    for (const test of plan.unitTests) {
      if (test.model === name && !here.has(name))
        tests.push(
          await differencesSql(db, test, { spell: sparkType, sql: sqlOf.get(test.name) ?? '' }),
        )
    }
    // a view that reads others is computed once, not once for each reader
    const isFile = !here.has(name) && (kindOf(node) === 'table' || dependsOn.length > 0)
    const path = isFile ? urlOf(name) : null
    nodes.push({ name, relation, sql, reads: dependsOn, path, tests })
  }
  const given = []
  for (const node of plan.all.filter(isGiven)) {
    const file = `given-${node.name}.parquet`
    const rows = await writableRows(db, node)
    await db.run(`copy (${rows}) to ${literal(join(folder, file))} (format parquet)`)
    given.push({ relation: node.relation, path: urlOf(file) })
  }
  const sources = new Set(compiled.models.flatMap((node) => node.sources))
  for (const relation of sources) {
    const [source = '', table = ''] = relation.split('.')
    given.push({ relation, path: spark.sourceUrl(source, table) })
  }
  const job = {
    schemas: [...new Set(given.map(schemaOf).concat(plan.all.map(({ schema }) => schema)))],
    given,
    made: plan.all.filter(isGiven).map(({ name }) => name),
    nodes,
    checks: checks.map(({ name, sql, reads }) => ({ name, sql, reads })),
    threads: THREADS,
  }
  await writeFile(join(folder, 'job.json'), JSON.stringify(job))
  return { checks: new Map(checks.map((each) => [each.name, each])) }
}

function schemaOf({ relation }: { readonly relation: string }): string {
  return relation.split('.')[0] ?? ''
}

/** Makes the view, or the table without rows: its columns have the types that DuckDB gives them. */
async function declare(db: Database, node: ModelNode): Promise<void> {
  const { relation, sql, file, name } = node
  const isView = kindOf(node) === 'view'
  const rows = isView ? sql : `select * from (${sql}\n) limit 0`
  await db
    .run(`create or replace ${kindOf(node)} ${relation} as ${rows}`)
    .catch((error: unknown) => {
      throw StatementError.of(`${file}: model '${name}'`, error)
    })
}

/** Missing values of one relation are counted in one pass. */
function together(checks: readonly Check[]): CountedTogether[] {
  const groups = grouped(checks, ({ check, missing }) =>
    missing === undefined ? check : `values of ${missing.in}`,
  )
  return [...groups].map(([name, group]) => {
    const [{ sql, missing, reads } = { sql: '', missing: undefined, reads: [] }] = group
    const columns = group.map(({ column }) => `count(*) - count(${identifier(column ?? '')})`)
    const counting =
      missing === undefined
        ? `select count(*) from (${sql}\n)`
        : `select ${columns.join(', ')} from ${missing.in}`
    return { name, checks: group, sql: counting, reads }
  })
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

const lines = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session'), version: z.string(), application: z.string() }),
  z.object({ kind: z.literal('stopped'), reason: z.string() }),
  z.object({
    kind: z.literal('node'),
    name: z.string(),
    ms: z.number(),
    tests: z.array(z.array(z.record(z.string(), z.json()))).optional(),
    error: z.string().optional(),
  }),
  z.object({
    kind: z.literal('check'),
    name: z.string(),
    ms: z.number(),
    failures: z.array(z.number()).optional(),
    error: z.string().optional(),
  }),
])

type Line = z.output<typeof lines>
type NodeLine = Extract<Line, { kind: 'node' }>

/** What a loader works on. */
interface Loading extends Pick<JobPlace, 'folder'> {
  readonly spark: SparkEngine
  readonly job: Job
  /** What DuckDB has made. */
  readonly inputs: BuiltModels
}

/** Loads what Spark has finished, one model after the other, while Spark goes on. */
class Loader {
  /** Why Spark ended early. */
  stopped: AppError | undefined
  readonly #context: BuildContext
  readonly #plan: BuildPlan
  readonly #loading: Loading
  readonly #models: Map<string, BuiltModel>
  readonly #unitTests: UnitTestResult[]
  readonly #failures: AppError[] = []
  readonly #failed = new Set<string>()
  readonly #counted = new Map<string, Counted>()
  #engine = 'Spark'
  #work: Promise<void> = Promise.resolve()

  constructor(context: BuildContext, plan: BuildPlan, loading: Loading) {
    this.#context = context
    this.#plan = plan
    this.#loading = loading
    this.#models = new Map(loading.inputs.models.map((model) => [model.name, model]))
    this.#unitTests = [...loading.inputs.unitTests]
  }

  take(said: unknown): void {
    const line = lines.parse(said)
    if (line.kind === 'session') this.#engine = `Spark ${line.version}`
    else if (line.kind === 'stopped') {
      this.stopped = sparkStopped(line.reason, this.#loading.spark.master)
    } else if (line.kind === 'check') this.#count(line)
    else {
      this.#work = this.#work.then(() => this.#load(line))
      this.#work.catch(() => undefined) // it is awaited in the end
    }
  }

  /** @throws AppError for a model that Spark neither made nor had a reason to leave out. */
  async result(): Promise<BuiltOnSpark> {
    await this.#work
    const missing = new Set(this.#failed)
    for (const { node } of this.#plan.nodes) {
      const { name, dependsOn } = node
      if (this.#models.has(name) || this.#failed.has(name)) continue
      const lacking = dependsOn.filter((each) => missing.has(each))
      if (lacking.length === 0) {
        throw sparkStopped(`it said nothing of model '${name}'`, this.#loading.spark.master)
      }
      missing.add(name)
      reportSkipped(this.#context, 'model', name, `not made: ${lacking.join(', ')}`)
    }
    return {
      models: this.#plan.nodes.flatMap(({ node }) => this.#models.get(node.name) ?? []),
      unitTests: this.#unitTests,
      failures: this.#failures,
      missing,
      counted: this.#counted,
      engine: this.#engine,
    }
  }

  #count({ name, ms, failures = [], error }: Extract<Line, { kind: 'check' }>): void {
    const { checks = [] } = this.#loading.job.checks.get(name) ?? {}
    for (const [index, { check, file }] of checks.entries()) {
      const durationMs = Math.round(ms / checks.length)
      const counted = failures[index]
      if (error === undefined && counted !== undefined) {
        this.#counted.set(check, { failures: counted, durationMs })
      } else {
        const refused = StatementError.of(`${file}: check '${check}'`, error ?? 'was not counted')
        this.#counted.set(check, refused)
      }
    }
  }

  async #load({ name, ms, tests = [], error }: NodeLine): Promise<void> {
    const planned = this.#plan.nodes.find(({ node }) => node.name === name)
    if (planned === undefined || this.#models.has(name)) return
    const { node } = planned
    try {
      await this.#compareUnits(name, tests)
      this.#models.set(name, await this.#make(node, ms, error))
      await this.#context.db.run(commentsSql(node))
    } catch (problem) {
      this.#context.signal?.throwIfAborted()
      if (!(problem instanceof AppError)) throw problem
      this.#failed.add(name)
      this.#failures.push(problem)
    }
  }

  async #compareUnits(model: string, differences: readonly (readonly Row[])[]): Promise<void> {
    if (differences.length === 0) return
    const own = this.#plan.unitTests.filter((test) => test.model === model)
    const context = this.#context
    try {
      this.#unitTests.push(...(await runUnitTests(context, own, differences)))
    } catch (error) {
      reportSkipped(context, 'model', model, 'its unit tests failed')
      throw error
    }
  }

  /** The model's table, of the rows that Spark made; or its view, which reads base. */
  async #make(node: ModelNode, durationMs: number, error: string | undefined): Promise<BuiltModel> {
    const { emit, report, now, db } = this.#context
    const context: BuildContext = {
      ...this.#context,
      emit: (event) => {
        emit(event.type === 'model.built' ? { ...event, durationMs } : event)
      },
      report: (outcome) => {
        report({ ...outcome, startedAt: now() - durationMs, durationMs })
      },
    }
    if (error !== undefined) {
      const refused = StatementError.of(`${node.file}: model '${node.name}'`, error)
      const outcome = { kind: 'model', name: node.name, status: 'error', failures: null } as const
      report({ ...outcome, startedAt: now() - durationMs, durationMs, message: refused.message })
      throw refused
    }
    const sql = kindOf(node) === 'view' ? node.sql : await this.#rows(db, node)
    const made = { ...node, sql, increment: null }
    const built = await materialize(context, {
      node: made,
      action: 'create',
      reason: 'made by Spark',
      isDescribed: false,
    })
    return { ...built, durationMs }
  }

  async #rows(db: Database, { relation, name }: ModelNode): Promise<string> {
    const { columns, types } = await db.table(`select * from ${relation} limit 0`)
    const casts = columns.map((column, at) => {
      const quoted = identifier(column)
      return `cast(${quoted} as ${types[at] ?? 'VARCHAR'}) as ${quoted}`
    })
    const files = join(this.#loading.folder, name, '*.parquet')
    return `select ${casts.join(', ')} from read_parquet(${literal(files)}, hive_partitioning = false)`
  }
}
