import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { AppError, asError, UsageError } from '../../lib/errors.ts'
import { listIfThere } from '../../lib/files.ts'
import { packageRoot } from '../../lib/package.ts'
import {
  reportSkipped,
  type BuildContext,
  type BuildPlan,
  type NodePlan,
  type SparkEngine,
  type SparkSettings,
} from '../shared/context.ts'
import type { Counted } from '../checks/run.ts'
import { runUnitTests } from '../checks/unit-tests.ts'
import { StatementError } from '../project/errors.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import { commentsSql } from '../shared/relations.ts'
import { materialize, type BuiltModel, type BuiltModels } from './materialize.ts'
import { planSpark, writeJob, type SparkJob } from './spark-job.ts'

/** The user's settings may change these. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'spark.app.name': 'agent-warehouse',
  'spark.driver.memory': '2g',
  'spark.sql.shuffle.partitions': '8',
  // the plans of some hundred statements fill the driver's memory
  'spark.sql.ui.retainedExecutions': '10',
  'spark.sql.maxPlanStringLength': '100000',
}

/** These make Spark read the models' SQL as DuckDB does. */
const DIALECT: Readonly<Record<string, string>> = {
  'spark.sql.ansi.enabled': 'true',
  'spark.sql.ansi.doubleQuotedIdentifiers': 'true',
  'spark.sql.parser.escapedStringLiterals': 'true',
  'spark.sql.session.timeZone': 'UTC',
  'spark.sql.parquet.outputTimestampType': 'TIMESTAMP_MICROS',
  'spark.sql.catalogImplementation': 'in-memory',
  'spark.sql.streaming.fileStreamSink.ignoreMetadata': 'true',
  'spark.ui.showConsoleProgress': 'false',
}

const INSTALL =
  'Install it (pip install pyspark, and Java 17 or 21), or name its folder: SPARK_HOME, or spark.home in agent-warehouse.yaml.'

/** The folder of Spark. @throws UsageError if there is none. */
export async function findSpark({ home, environment }: SparkSettings): Promise<string> {
  const named = home ?? environment['SPARK_HOME'] ?? ''
  const found = named === '' ? await pysparkFolder(environment) : named
  if (found !== undefined && existsSync(join(found, 'bin', 'spark-submit'))) return found
  const problem =
    found === undefined
      ? 'there is no Spark on this machine'
      : `there is no Spark in ${found}: it has no bin/spark-submit`
  throw new UsageError(`--engine spark: ${problem}`, { hint: INSTALL })
}

/** The folder of the Python package, which contains Spark. */
async function pysparkFolder(env: SparkSettings['environment']): Promise<string | undefined> {
  const script = 'import os, pyspark; print(os.path.dirname(pyspark.__file__))'
  const { stdout } = await promisify(execFile)('python3', ['-c', script], { env }).catch(() => ({
    stdout: '',
  }))
  return stdout.trim() === '' ? undefined : stdout.trim()
}

/** The version of Spark by its library. @throws UsageError if there is none. */
export async function sparkVersion(settings: SparkSettings): Promise<string> {
  const jars = join(await findSpark(settings), 'jars')
  for (const { name } of await listIfThere(jars)) {
    const [, version] = /^spark-core_[\d.]+-(.+)\.jar$/.exec(name) ?? []
    if (version !== undefined) return version
  }
  throw new UsageError(`--engine spark: ${jars} does not contain spark-core`, { hint: INSTALL })
}

interface Submission {
  /** The JSON file of the job. */
  readonly job: string
  readonly folder: string
  /** The folder's address for the cluster's machines. */
  readonly folderUrl: string
  readonly signal?: AbortSignal | undefined
  /** Called with each line of JSON that the driver prints. */
  readonly onLine: (line: unknown) => void
  /** Called if Spark waits for the cluster. */
  readonly warn: (message: string) => void
}

/**
 * Runs the driver program to its end.
 *
 * @throws AppError with Spark's reason if it ends early, UsageError if there is no Java.
 */
export async function submit(spark: SparkSettings, submission: Submission): Promise<void> {
  const { job, folder, folderUrl, signal, onLine, warn } = submission
  const home = await findSpark(spark)
  signal?.throwIfAborted()
  const warehouse = { 'spark.sql.warehouse.dir': `${folderUrl}/databases` }
  const settings = Object.entries({ ...DEFAULTS, ...spark.settings, ...DIALECT, ...warehouse })
  const driver = join(packageRoot, 'spark', 'driver.py')
  const child = spawn(
    join(home, 'bin', 'spark-submit'),
    [
      ...['--master', spark.master],
      ...settings.flatMap(([name, value]) => ['--conf', `${name}=${value}`]),
      ...[driver, job],
    ],
    {
      cwd: folder,
      env: { ...spark.environment, SPARK_HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const stop = (): void => void child.kill()
  signal?.addEventListener('abort', stop)
  const words: string[] = []
  let failure: Error | undefined
  createInterface(child.stderr).on('line', (line) => {
    words.push(line)
    if (words.length > KEPT_LINES) words.shift()
    if (line.includes('has not accepted any resources')) {
      warn(`Spark is waiting: ${spark.master} has no free executor for the build`)
    }
  })
  createInterface(child.stdout).on('line', (line) => {
    try {
      if (line.startsWith(DRIVERS)) onLine(JSON.parse(line))
    } catch (error) {
      failure ??= asError(error)
      child.kill()
    }
  })
  try {
    const ended = await new Promise<string | undefined>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, by) => {
        resolve(code === 0 ? undefined : (by ?? `exit code ${String(code)}`))
      })
    })
    signal?.throwIfAborted()
    if (failure !== undefined) throw failure
    if (ended !== undefined) throw endedEarly(ended, words, spark.master)
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

const KEPT_LINES = 200

/** The beginning of the driver's lines; lines of Spark's own log may also be JSON. */
const DRIVERS = '{"kind": '

function endedEarly(ended: string, words: readonly string[], master: string): AppError {
  if (words.some((line) => /JAVA_HOME is not set|java: not found/i.test(line))) {
    return new UsageError('--engine spark: Spark did not find Java', {
      hint: 'Install Java 17 or 21, or set JAVA_HOME.',
    })
  }
  const telling = /\bERROR\b|Exception|error:/i
  const why = words.findLast((line) => telling.test(line)) ?? words.at(-1) ?? 'it said nothing'
  return sparkStopped(`spark-submit ended with ${ended}: ${why.trim().slice(0, 500)}`, master)
}

function sparkStopped(reason: string, master: string): AppError {
  return new AppError(`Spark (${master}) did not finish the build: ${reason}`, {
    hint: 'Check the cluster, then build again.',
  })
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

type NodeLine = Extract<z.output<typeof lines>, { kind: 'node' }>
type CheckLine = Extract<z.output<typeof lines>, { kind: 'check' }>

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

  const load = async (line: NodeLine): Promise<void> => {
    const { name, tests = [], error } = line
    const planned = plan.nodes.find(({ node }) => node.name === name)
    if (planned === undefined || (!isDue.has(name) && error === undefined)) return
    try {
      if (tests.length > 0) await runUnitTests(context, name, plan, tests)
      models.set(name, await makeModel(context, planned, folder, line))
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

    take: (value: unknown): void => {
      const line = lines.parse(value)
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

/**
 * The counts of the checks that Spark counted together. DuckDB runs those without one: Spark found
 * that rows are wrong, but not how many.
 */
function countsOf(
  { name, ms, failures = [], error }: CheckLine,
  job: SparkJob,
): [check: string, count: Counted][] {
  const { checks = [] } = job.checks.get(name) ?? {}
  return checks.flatMap(({ check, file, count }, index): [string, Counted][] => {
    const counted = failures[index]
    if (error !== undefined || counted === undefined) {
      const problem = error ?? 'was not counted'
      return [[check, new StatementError(`${file}: check '${check}': ${problem}`)]]
    }
    if (counted !== 0 && count?.isExact === false) return []
    return [[check, { failures: counted, durationMs: Math.round(ms / checks.length) }]]
  })
}

/** Makes the model's table from Spark's rows, or its view, which reads base. */
async function makeModel(
  context: BuildContext,
  planned: NodePlan,
  folder: string,
  { ms: durationMs, error }: NodeLine,
): Promise<BuiltModel> {
  const { node, action } = planned
  const { report, now, db } = context
  if (error !== undefined) {
    const refused = new StatementError(`${node.file}: model '${node.name}': ${error}`)
    const outcome = { kind: 'model', name: node.name, status: 'error', durationMs } as const
    report({ ...outcome, startedAt: now() - durationMs, message: refused.message })
    throw refused
  }
  const sql = kindOf(node) === 'view' ? node.sql : await rowsSql(db, node, folder)
  const increment = action === 'update' ? { preHooks: [], sql } : null
  return materialize(context, { ...planned, node: { ...node, sql, increment } }, durationMs)
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
  const { signal, emit } = context
  const folder = join(spark.folder, context.runId)
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
