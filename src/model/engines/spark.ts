import { join } from 'node:path'
import { z } from 'zod'
import { identifier, literal, type Database, type Row } from '../../lib/duckdb.ts'
import { AppError } from '../../lib/errors.ts'
import {
  reportSkipped,
  type BuildContext,
  type BuildPlan,
  type NodePlan,
  type SparkEngine,
} from '../shared/context.ts'
import type { Counted } from '../checks/run.ts'
import { runUnitTests, type UnitTestResult } from '../checks/unit-tests.ts'
import { StatementError } from '../project/errors.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import { commentsSql } from '../shared/relations.ts'
import { materialize, type BuiltModel, type BuiltModels } from './materialize.ts'
import { type SparkJob, writeJob, planSpark } from './spark-job.ts'
import { sparkStopped, submit } from './spark-submit.ts'
import { mkdir, rm } from 'node:fs/promises'

export interface BuiltOnSpark extends BuiltModels {
  readonly counted: ReadonlyMap<string, Counted>
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

interface Loading {
  readonly folder: string
  readonly master: string
  readonly job: SparkJob
  readonly due: readonly NodePlan[]
  /** The models that DuckDB has made. */
  readonly here: BuiltModels
}

/** Loads finished models one by one while Spark continues. */
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
  #work: Promise<void> = Promise.resolve()

  constructor(context: BuildContext, plan: BuildPlan, loading: Loading) {
    this.#context = context
    this.#plan = plan
    this.#loading = loading
    this.#models = new Map(loading.here.models.map((model) => [model.name, model]))
    this.#unitTests = [...loading.here.unitTests]
  }

  take(said: unknown): void {
    const line = lines.parse(said)
    if (line.kind === 'stopped') this.stopped = sparkStopped(line.reason, this.#loading.master)
    else if (line.kind === 'check') this.#count(line)
    else if (line.kind === 'node') {
      this.#work = this.#work.then(() => this.#load(line))
      this.#work.catch(() => undefined) // `result` awaits it and throws its error
    }
  }

  /** @throws AppError for a model that Spark neither made nor skipped for a reason. */
  async result(): Promise<BuiltOnSpark> {
    await this.#work
    const missing = new Set(this.#failed)
    for (const { node } of this.#plan.nodes) {
      const { name, dependsOn } = node
      if (this.#models.has(name) || this.#failed.has(name)) continue
      const lacking = dependsOn.filter((each) => missing.has(each))
      if (lacking.length === 0) {
        throw sparkStopped(`it did not report on model '${name}'`, this.#loading.master)
      }
      missing.add(name)
      reportSkipped(this.#context, 'model', name, `not built: ${lacking.join(', ')}`)
    }
    return {
      models: this.#plan.nodes.flatMap(({ node }) => this.#models.get(node.name) ?? []),
      unitTests: this.#plan.nodes.flatMap(({ node }) =>
        this.#unitTests.filter(({ model }) => model === node.name),
      ),
      failures: this.#failures,
      missing,
      counted: this.#counted,
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
    const isDue = this.#loading.due.some(({ node }) => node.name === name)
    if (planned === undefined || (!isDue && error === undefined)) return
    const { node } = planned
    try {
      await this.#compareUnits(name, tests)
      this.#models.set(name, await this.#make(planned, ms, error))
      if (!planned.isDescribed) await this.#context.db.run(commentsSql(node))
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

  /** Makes the model's table from Spark's rows, or its view, which reads base. */
  async #make(
    planned: NodePlan,
    durationMs: number,
    error: string | undefined,
  ): Promise<BuiltModel> {
    const { node, action } = planned
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
    const increment = action === 'update' ? { preHooks: [], sql } : null
    const made = { ...node, sql, increment }
    const built = await materialize(context, { ...planned, node: made })
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

/**
 * Builds the models and runs their checks on Spark. DuckDB makes the inputs: seeds, snapshots, and
 * the models that snapshots read. For the other models DuckDB decides the columns and their types,
 * Spark makes the rows, and its Parquet files are loaded as each model is finished. Reused models
 * are not computed; of updated ones, only the due intervals are.
 *
 * @throws AppError if Spark does not finish its job.
 */
export async function buildOnSpark(
  context: BuildContext,
  plan: BuildPlan,
  spark: SparkEngine,
  buildHere: (nodes: readonly NodePlan[]) => Promise<BuiltModels>,
): Promise<BuiltOnSpark> {
  const sparkPlan = planSpark(plan)
  const here = await buildHere(sparkPlan.here)
  const [failure] = here.failures
  if (failure !== undefined) throw failure
  if (sparkPlan.due.length === 0) return { ...here, counted: new Map() }
  const { signal, emit, runId } = context
  const folder = join(spark.folder, runId)
  await rm(spark.folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  try {
    const job = await writeJob(context, spark, plan, sparkPlan, folder)
    const { due } = sparkPlan
    const loader = new Loader(context, plan, { folder, master: spark.master, job, due, here })
    await submit(spark, {
      job: job.path,
      folder,
      folderUrl: spark.urlOf(folder),
      signal,
      onLine: (line) => {
        loader.take(line)
      },
      warn: (message) => {
        emit({ type: 'warning', message })
      },
    }).catch((error: unknown) => {
      throw loader.stopped ?? error
    })
    return await loader.result()
  } finally {
    await rm(spark.folder, { recursive: true, force: true })
  }
}
