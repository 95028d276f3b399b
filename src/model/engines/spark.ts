import { join } from 'node:path'
import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { AppError } from '../../lib/errors.ts'
import {
  reportSkipped,
  type BuildContext,
  type BuildPlan,
  type NodePlan,
  type SparkEngine,
} from '../shared/context.ts'
import type { Counted } from '../checks/run.ts'
import { runUnitTests } from '../checks/unit-tests.ts'
import { StatementError } from '../project/errors.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import { commentsSql } from '../shared/relations.ts'
import { materialize, type BuiltModel, type BuiltModels } from './materialize.ts'
import { type SparkJob, writeJob, planSpark } from './spark-job.ts'
import { sparkStopped, submit } from './spark-submit.ts'
import { mkdir, rm } from 'node:fs/promises'

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
function loader(
  context: BuildContext,
  plan: BuildPlan,
  { folder, master, job, due, here }: Loading,
) {
  const models = new Map(here.models.map((model) => [model.name, model]))
  const failures = new Map<string, AppError>()
  const counted = new Map<string, Counted>()
  const isDue = new Set(due.map(({ node }) => node.name))
  let work = Promise.resolve()
  let stopped: AppError | undefined

  const load = async ({ name, ms, tests = [], error }: NodeLine): Promise<void> => {
    const planned = plan.nodes.find(({ node }) => node.name === name)
    if (planned === undefined || (!isDue.has(name) && error === undefined)) return
    try {
      if (tests.length > 0) await runUnitTests(context, name, plan, tests)
      models.set(name, await makeModel(context, planned, { folder, durationMs: ms, error }))
      if (!planned.isDescribed) await context.db.run(commentsSql(planned.node))
    } catch (problem) {
      context.signal?.throwIfAborted()
      if (!(problem instanceof AppError)) throw problem
      failures.set(name, problem)
    }
  }

  return {
    /** Why Spark ended early. */
    stopped: () => stopped,

    take: (said: unknown): void => {
      const line = lines.parse(said)
      if (line.kind === 'stopped') stopped = sparkStopped(line.reason, master)
      else if (line.kind === 'check') {
        for (const [check, count] of countsOf(line, job)) counted.set(check, count)
      } else if (line.kind === 'node') {
        work = work.then(() => load(line))
        work.catch(() => undefined) // `result` awaits it and throws its error
      }
    },

    /** @throws AppError for a model that Spark neither made nor skipped for a reason. */
    result: async (): Promise<BuiltModels> => {
      await work
      const missing = new Set(failures.keys())
      for (const { node } of plan.nodes) {
        const { name, dependsOn } = node
        if (models.has(name) || failures.has(name)) continue
        const lacking = dependsOn.filter((each) => missing.has(each))
        if (lacking.length === 0) {
          throw sparkStopped(`it did not report on model '${name}'`, master)
        }
        missing.add(name)
        reportSkipped(context, 'model', name, `not built: ${lacking.join(', ')}`)
      }
      return {
        models: plan.nodes.flatMap(({ node }) => models.get(node.name) ?? []),
        failures: [...failures.values()],
        missing,
        counted,
      }
    },
  }
}

/** The counts of the checks that Spark counted together. */
function countsOf(
  { name, ms, failures = [], error }: Extract<Line, { kind: 'check' }>,
  job: SparkJob,
): [check: string, count: Counted][] {
  const { checks = [] } = job.checks.get(name) ?? {}
  return checks.map(({ check, file }, index) => {
    const counted = failures[index]
    if (error === undefined && counted !== undefined) {
      return [check, { failures: counted, durationMs: Math.round(ms / checks.length) }]
    }
    const problem = error ?? 'was not counted'
    return [check, new StatementError(`${file}: check '${check}': ${problem}`)]
  })
}

interface SparkResult {
  readonly folder: string
  readonly durationMs: number
  readonly error: string | undefined
}

/** Makes the model's table from Spark's rows, or its view, which reads base. */
async function makeModel(
  context: BuildContext,
  planned: NodePlan,
  { folder, durationMs, error }: SparkResult,
): Promise<BuiltModel> {
  const { node, action } = planned
  const { emit, report, now, db } = context
  if (error !== undefined) {
    const refused = new StatementError(`${node.file}: model '${node.name}': ${error}`)
    const outcome = { kind: 'model', name: node.name, status: 'error', failures: null } as const
    report({ ...outcome, startedAt: now() - durationMs, durationMs, message: refused.message })
    throw refused
  }
  const own: BuildContext = {
    ...context,
    emit: (event) => {
      emit(event.type === 'model.built' ? { ...event, durationMs } : event)
    },
    report: (outcome) => {
      report({ ...outcome, startedAt: now() - durationMs, durationMs })
    },
  }
  const sql = kindOf(node) === 'view' ? node.sql : await rowsSql(db, node, folder)
  const increment = action === 'update' ? { preHooks: [], sql } : null
  const built = await materialize(own, { ...planned, node: { ...node, sql, increment } })
  return { ...built, durationMs }
}

async function rowsSql(db: Database, { relation, name }: ModelNode, folder: string) {
  const { columns, types } = await db.table(`select * from ${relation} limit 0`)
  const casts = columns.map((column, at) => {
    const quoted = identifier(column)
    return `cast(${quoted} as ${types[at] ?? 'VARCHAR'}) as ${quoted}`
  })
  const files = join(folder, name, '*.parquet')
  return `select ${casts.join(', ')} from read_parquet(${literal(files)}, hive_partitioning = false)`
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
): Promise<BuiltModels> {
  const sparkPlan = planSpark(plan)
  const here = await buildHere(sparkPlan.here)
  const [failure] = here.failures
  if (failure !== undefined) throw failure
  if (sparkPlan.due.length === 0) return here
  const { signal, emit, runId } = context
  const folder = join(spark.folder, runId)
  await rm(spark.folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  try {
    const job = await writeJob(context, spark, plan, sparkPlan, folder)
    const { due } = sparkPlan
    const loading = loader(context, plan, { folder, master: spark.master, job, due, here })
    await submit(spark, {
      job: job.path,
      folder,
      folderUrl: spark.urlOf(folder),
      signal,
      onLine: loading.take,
      warn: (message) => {
        emit({ type: 'warning', message })
      },
    }).catch((error: unknown) => {
      throw loading.stopped() ?? error
    })
    return await loading.result()
  } finally {
    await rm(spark.folder, { recursive: true, force: true })
  }
}
