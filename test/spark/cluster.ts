import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pythonOf } from '../../bench/python.mjs'
import { packageRoot } from '../../src/lib/package.ts'
import type { SparkEngine } from '../../src/model/shared/context.ts'

export const REQUIREMENTS = join(packageRoot, 'test', 'spark', 'requirements.txt')

const WORKERS = 2

/**
 * The classes of Spark as a driver has loaded them, next to its packages: reading them from one
 * file takes a third less time than from the jars.
 */
const CLASSES = join(dirname(pythonOf(REQUIREMENTS)), 'spark.jsa')

/** Fast start, small heap: the tables of the tests are small. */
const SMALL_JVM = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
const WITH_CLASSES = `${SMALL_JVM} -XX:SharedArchiveFile=${CLASSES}`

const SETTINGS = {
  'spark.driver.host': '127.0.0.1',
  'spark.driver.bindAddress': '127.0.0.1',
  'spark.driver.memory': '2g',
  'spark.executor.memory': '900m',
  'spark.executor.extraJavaOptions': WITH_CLASSES,
  'spark.ui.enabled': 'false',
  'spark.sql.shuffle.partitions': '2',
  'spark.sql.codegen.wholeStage': 'false',
  'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
  'spark.sql.adaptive.enabled': 'false',
  'spark.eventLog.enabled': 'true',
  'spark.eventLog.compress': 'false',
  'spark.eventLog.rolling.enabled': 'false',
}

/** A cluster on this machine: one master, and workers with a core each. */
export class Cluster {
  readonly home: string
  readonly master: string
  readonly #folder: string
  readonly #children: readonly ChildProcess[]

  private constructor(home: string, master: string, folder: string, children: ChildProcess[]) {
    this.home = home
    this.master = master
    this.#folder = folder
    this.#children = children
  }

  static async start(): Promise<Cluster> {
    const find = 'import os, pyspark; print(os.path.dirname(pyspark.__file__))'
    const home = execFileSync(pythonOf(REQUIREMENTS), ['-c', find], { encoding: 'utf8' }).trim()
    const folder = await mkdtemp(join(tmpdir(), 'agent-warehouse-spark-'))
    await mkdir(join(folder, 'events'))
    const common = ['--host', '127.0.0.1', '--port', '0', '--webui-port', '0']
    const first = await startDaemon(home, ['master.Master', ...common], /at (spark:\/\/\S+)/)
    const workers = Array.from({ length: WORKERS }, (_, index) => {
      const own = ['--cores', '1', '--memory', '1g', '--work-dir', join(folder, `worker-${index}`)]
      const args = ['worker.Worker', ...common, ...own, first.matched]
      return startDaemon(home, args, /(Successfully registered)/)
    })
    const children = [first.child, ...(await Promise.all(workers)).map(({ child }) => child)]
    return new Cluster(home, first.matched, folder, children)
  }

  /** The engine of a build on it, with the folder's Parquet files as sources. */
  engine(data: string, options: Partial<SparkEngine> = {}): SparkEngine {
    return {
      master: this.master,
      home: this.home,
      environment: { PATH: process.env['PATH'] ?? '', SPARK_LOCAL_IP: '127.0.0.1' },
      sourceUrl: (_, table) => `file:${join(data, `${table}.parquet`)}`,
      folder: join(data, 'state', 'spark'),
      urlOf: (path) => `file:${path}`,
      ...options,
      settings: {
        ...SETTINGS,
        // the first driver writes the file when it ends
        'spark.driver.extraJavaOptions': existsSync(CLASSES)
          ? WITH_CLASSES
          : `${SMALL_JVM} -XX:ArchiveClassesAtExit=${CLASSES}`,
        'spark.eventLog.dir': `file:${join(this.#folder, 'events')}`,
        ...options.settings,
      },
    }
  }

  /** Kills the executors that the workers started for a build; returns their number. */
  killExecutors(): number {
    const listed = execFileSync('ps', ['-eo', 'pid,ppid'], { encoding: 'utf8' })
    const parents = this.#children.slice(1).map(({ pid }) => String(pid))
    const own = listed.split('\n').map((line) => line.trim().split(/\s+/))
    const executors = own.filter(([, parent = '']) => parents.includes(parent))
    for (const [pid] of executors) process.kill(Number(pid), 'SIGKILL')
    return executors.length
  }

  /** The number of successful tasks on each worker, by the addresses in the log of the last build. */
  async tasksByWorker(): Promise<number[]> {
    const folder = join(this.#folder, 'events')
    const last = (await readdir(folder)).sort().at(-1) ?? ''
    const lines = (await readFile(join(folder, last), 'utf8')).trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as SparkEvent)
    const workerOf = new Map<string, string>()
    const tasks = new Map<string, number>()
    for (const event of events) {
      if (event.Event === 'SparkListenerExecutorAdded') {
        const { stdout = '' } = event['Executor Info']['Log Urls']
        workerOf.set(event['Executor ID'], new URL(stdout).host)
      } else if (event.Event === 'SparkListenerTaskEnd') {
        const worker = workerOf.get(event['Task Info']['Executor ID']) ?? '(unknown)'
        if (event['Task Info'].Failed) continue
        tasks.set(worker, (tasks.get(worker) ?? 0) + 1)
      }
    }
    return [...tasks.values()]
  }

  async stop(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill()
      await once(child, 'close')
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

type SparkEvent =
  | {
      readonly Event: 'SparkListenerExecutorAdded'
      readonly 'Executor ID': string
      readonly 'Executor Info': { readonly 'Log Urls': { readonly stdout?: string } }
    }
  | {
      readonly Event: 'SparkListenerTaskEnd'
      readonly 'Task Info': { readonly 'Executor ID': string; readonly Failed: boolean }
    }
  | { readonly Event: 'another' }

/** Starts a Spark daemon, and waits for the line that it logs when it is ready. */
async function startDaemon(
  home: string,
  [name = '', ...args]: readonly string[],
  ready: RegExp,
): Promise<{ child: ChildProcess; matched: string }> {
  const child = spawn(
    join(home, 'bin', 'spark-class'),
    [`org.apache.spark.deploy.${name}`, ...args],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        SPARK_LOCAL_IP: '127.0.0.1',
        SPARK_DAEMON_MEMORY: '256m',
        SPARK_DAEMON_JAVA_OPTS: WITH_CLASSES,
      },
    },
  )
  const output: string[] = []
  const matched = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      output.push(line)
      const [, found] = ready.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.on('error', reject)
    child.on('close', () => {
      reject(new Error(`${name} ended:\n${output.join('\n')}`))
    })
  })
  return { child, matched }
}
