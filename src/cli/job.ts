import { randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { Config, OrganisationConfig } from '../config/config.ts'
import { AppError, asError, ExitCode, messageOf, UsageError } from '../lib/errors.ts'
import { umaskOf } from '../lib/trust.ts'
import { warner } from '../lib/world.ts'
import type { RunContext } from '../pipeline/run-context.ts'
import { removeScratch } from '../serve/verify/scratch.ts'
import { keepOutOfGit } from '../lake/data-folder.ts'
import { diskFault, makeFolder } from '../lib/disk.ts'
import { removeSpilled } from '../lib/spill.ts'
import { removeAsides } from '../lib/files.ts'
import { lock, type Lease } from '../lib/lock.ts'
import { printed, report, type Answer, type Terminal } from './command.ts'
import { createObserver, type LogMode, type Observer } from './observer.ts'
import { announce, createWorld } from './world.ts'

export interface JobOptions {
  readonly command: string
  readonly config: Config
  readonly log: LogMode
  readonly json: boolean
  /** Milliseconds the job may last. @default Infinity */
  readonly maxDurationMs?: number
  /** The clock, where it is not the real one. */
  readonly now?: () => number
  /** Those that the platform is asked about; no log and no record shows their credentials. @default none */
  readonly organisations?: readonly OrganisationConfig[]
}

/** What a job came to. Problems are said after the summary, one line each. */
export interface JobResult {
  readonly exitCode: ExitCode
  readonly problems?: readonly Error[]
  /** What the command prints in place of the run's summary. */
  readonly report?: Answer
}

/**
 * Runs work that writes in the data folder: alone (the lock), observed, on
 * record, with a closing summary on standard output.
 */
export async function runJob(
  options: JobOptions,
  terminal: Terminal,
  work: (context: RunContext, observer: Observer) => Promise<JobResult>,
): Promise<ExitCode> {
  const { config, organisations = [], maxDurationMs = Infinity } = options
  const { dataFolder, umask } = config
  // That of the environment is set since the process began.
  if (umask !== umaskOf(terminal.environment)) process.umask(umask)
  if (OF_WHAT_LANDED.has(options.command)) refuseMissing(dataFolder)
  await checkWritable(dataFolder)
  const now = options.now ?? ((): number => Date.now())
  const runId = newRunId(now())
  const secrets = organisations.map(({ key }) => key)
  const observer = createObserver({ ...options, secrets, runId, dataFolder, now }, terminal)
  const { world, close } = createWorld(observer.emit, terminal.environment, now)
  let lease: Lease | undefined
  try {
    lease = await lock(dataFolder, {
      runId,
      world: { ...world, now: () => Date.now() },
      warn: warner(world, 'lease'),
      onLost: (error) => {
        report(error, terminal)
        process.exit(error.exitCode)
      },
    })
    await observer.open()
    for (const each of organisations) announce(each, observer.emit)
    await removeSpilled(dataFolder, Date.now())
    if (lease.wasLeft) await tidyUp(dataFolder, observer)
    const context = { config, world, runId, deadline: now() + maxDurationMs }
    const result = await settled(() => work(context, observer))
    const first = result.problems?.[0] ?? null
    const closing = await observer.close(result.exitCode, first)
    const { text = closing.text, json = closing.record } = result.report ?? {}
    if (options.json || closing.didWork) terminal.out(printed({ json, text }, options.json))
    if (result.unexpected !== undefined) throw result.unexpected
    for (const problem of result.problems ?? []) report(problem, terminal)
    return result.exitCode
  } finally {
    await close()
    await lease?.release()
  }
}

/**
 * After a run that was killed: the files it was writing are worth nothing, and
 * are made again. The next sync goes on from the pages in `state/parts`.
 */
async function tidyUp(dataFolder: string, observer: Observer): Promise<void> {
  const removed = await removeAsides(dataFolder)
  await removeScratch(dataFolder)
  const message = `the last run was killed; ${removed} unfinished files of it were removed`
  observer.emit({ type: 'warning', message, about: 'lease' })
}

/** An expected failure becomes a result, so that its record and summary are written. */
async function settled(
  work: () => Promise<JobResult>,
): Promise<JobResult & { readonly unexpected?: Error }> {
  try {
    return await work()
  } catch (error) {
    const failure = diskFault(error) ?? asError(error)
    if (failure instanceof AppError) return { exitCode: failure.exitCode, problems: [failure] }
    return { exitCode: ExitCode.unexpected, problems: [failure], unexpected: failure }
  }
}

/** Commands that ask the platform for nothing: they make no data folder. */
const OF_WHAT_LANDED = new Set(['build', 'rebuild'])

/** @throws UsageError when there is no data folder: its name may be mistyped. */
function refuseMissing(dataFolder: string): void {
  if (existsSync(dataFolder)) return
  throw new UsageError(`there is no data folder ${dataFolder}`, {
    hint: 'Name it with --data or AGENT_WAREHOUSE_DATA; agent-warehouse run makes one.',
  })
}

/** @throws UsageError when the data folder cannot be made or written. */
async function checkWritable(dataFolder: string): Promise<void> {
  try {
    makeFolder(dataFolder)
    if (!(await stat(dataFolder)).isDirectory()) throw new Error('it is not a folder')
    await access(dataFolder, constants.W_OK | constants.X_OK)
    keepOutOfGit(dataFolder)
  } catch (error) {
    throw new UsageError(`the data folder ${dataFolder} cannot be written: ${messageOf(error)}`, {
      hint: 'Name another one with --data or AGENT_WAREHOUSE_DATA, or fix its permissions.',
      cause: error,
    })
  }
}

/** Sorts by time; unique. */
function newRunId(now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)
  return `${time}Z-${randomBytes(3).toString('hex')}`
}
