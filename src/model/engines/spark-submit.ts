import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { AppError, asError, UsageError } from '../../lib/errors.ts'
import { listIfThere } from '../../lib/files.ts'
import { packageRoot } from '../../lib/package.ts'
import type { SparkSettings } from '../shared/context.ts'

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

export function sparkStopped(reason: string, master: string): AppError {
  return new AppError(`Spark (${master}) did not finish the build: ${reason}`, {
    hint: 'Check the cluster, then build again.',
  })
}
