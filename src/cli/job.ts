import { randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Config, OrganisationConfig } from '../config/config.ts'
import { AppError, asError, ExitCode, messageOf, UsageError } from '../lib/errors.ts'
import { umaskOf } from '../lib/trust.ts'
import { warner, type World } from '../lib/world.ts'
import type { RunsSoFar } from '../pipeline/build.ts'
import type { RunContext } from '../pipeline/run-context.ts'
import { removeScratch } from '../serve/verify/scratch.ts'
import { keepOutOfGit } from '../lake/layout.ts'
import { explainedFault } from '../lib/disk.ts'
import { removeSpilled } from '../lib/spill.ts'
import { makeFolder, removeTemporaryFiles } from '../lib/files.ts'
import { lock, type Lease } from '../lib/lock.ts'
import { printed, report, type logOption, type Terminal } from './command.ts'
import { announce, createWorld } from './world.ts'
import { join } from 'node:path'
import type { RunEvent } from '../lib/events.ts'
import type { RunRow } from '../model/shared/meta.ts'
import { createJsonLog, createTextLog, createRedact, redactedEvent } from '../observe/log.ts'
import { createProgress, type Progress } from '../observe/progress.ts'
import { ended, readRunRecords, writeRunRecord, type RunRecord } from '../observe/run-record.ts'
import { createSummary } from '../observe/summary.ts'
import { renderSummary } from '../observe/summary-text.ts'
import { version } from '../lib/package.ts'

export type LogMode = (typeof logOption.log.choices)[number]

interface JobOptions {
  readonly command: string
  readonly config: Config
  readonly log: LogMode
  readonly json: boolean
  /** Milliseconds the job may last. @default Infinity */
  readonly maxDurationMs?: number
  /** The organisations to request; logs and records hide their credentials. @default none */
  readonly organisations?: readonly OrganisationConfig[]
}

/** The result of a job. Problems are printed after the summary, one line each. */
export interface JobResult {
  readonly exitCode: ExitCode
  readonly problems?: readonly Error[]
  /** The output instead of the run's summary; its JSON begins with the id of the run. */
  readonly report?: { readonly json: object; readonly text: string }
}

/**
 * Runs work that writes to the data folder: under the lock, with progress, a run record, and
 * a closing summary on standard output.
 */
export async function runJob(
  options: JobOptions,
  terminal: Terminal,
  work: (context: RunContext, runs: RunsSoFar) => Promise<JobResult>,
): Promise<ExitCode> {
  const { config, organisations = [], maxDurationMs = Infinity } = options
  const { dataFolder, umask } = config
  // The umask of the environment was set when the process started.
  if (umask !== umaskOf(terminal.environment)) process.umask(umask)
  if (!LOADING.has(options.command)) refuseMissing(dataFolder)
  await checkWritable(dataFolder)
  const { now } = terminal
  const runId = newRunId(now())
  const usable = organisations.filter(({ problem }) => problem === null)
  const secrets = usable.map(({ key }) => key)
  const observer = createObserver({ ...options, secrets, runId, dataFolder, now }, terminal)
  // nothing is requested without an organisation, and then the proxy does not matter
  const environment = organisations.length === 0 ? {} : terminal.environment
  const { world, close } = createWorld(observer.emit, { environment, now })
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
    announce(usable, observer.emit)
    await removeSpilled(dataFolder, Date.now())
    if (lease.wasLeft) await tidyUp(dataFolder, world)
    const context = { config, world, runId, deadline: now() + maxDurationMs }
    const result = await resultOf(() => work(context, observer.runs))
    const first = result.problems?.[0] ?? null
    const closing = await observer.close(result.exitCode, first)
    const output =
      result.report === undefined
        ? { json: closing.record, text: closing.text }
        : { json: { run_id: runId, ...result.report.json }, text: result.report.text }
    if (options.json || closing.didWork) terminal.out(printed(output, options.json))
    if (result.unexpected !== undefined) throw result.unexpected
    for (const problem of result.problems ?? []) report(problem, terminal)
    return result.exitCode
  } finally {
    await close()
    await lease?.release()
  }
}

/**
 * Cleans up after a killed run: removes the files that it was writing, which are made again.
 * The next sync resumes from the page buffers in `state/parts`.
 */
async function tidyUp(dataFolder: string, { emit }: World): Promise<void> {
  const removed = await removeTemporaryFiles(dataFolder)
  await removeScratch(dataFolder)
  const files =
    removed === 1
      ? 'its unfinished file was removed'
      : `its ${removed} unfinished files were removed`
  const message = `the last run was killed${removed === 0 ? '' : `; ${files}`}`
  emit({ type: 'warning', message, about: 'lease' })
}

/** An expected failure becomes a result, so that its record and summary are written. */
async function resultOf(
  work: () => Promise<JobResult>,
): Promise<JobResult & { readonly unexpected?: Error }> {
  try {
    return await work()
  } catch (error) {
    const failure = asError(explainedFault(error))
    if (failure instanceof AppError) return { exitCode: failure.exitCode, problems: [failure] }
    return { exitCode: ExitCode.unexpected, problems: [failure], unexpected: failure }
  }
}

/** Commands that create the data folder; the others need what has landed in it. */
const LOADING = new Set(['run', 'sync', 'demo'])

/** @throws UsageError if there is no data folder, because its name may be mistyped. */
function refuseMissing(dataFolder: string): void {
  if (existsSync(dataFolder)) return
  throw new UsageError(`there is no data folder ${dataFolder}`, {
    hint: 'Name it with --data or AGENT_WAREHOUSE_DATA, or run agent-warehouse run, which creates it.',
  })
}

/** @throws UsageError if the data folder cannot be made or written. */
async function checkWritable(dataFolder: string): Promise<void> {
  try {
    makeFolder(dataFolder)
    await access(dataFolder, constants.W_OK | constants.X_OK)
    keepOutOfGit(dataFolder)
  } catch (error) {
    throw new UsageError(`the data folder ${dataFolder} cannot be written: ${messageOf(error)}`, {
      hint: 'Name another one with --data or AGENT_WAREHOUSE_DATA, or fix its permissions.',
      cause: error,
    })
  }
}

function newRunId(now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)
  return `${time}Z-${randomBytes(3).toString('hex')}`
}

interface ObserverOptions {
  readonly runId: string
  readonly command: string
  readonly dataFolder: string
  readonly log: LogMode
  readonly secrets: readonly string[]
  readonly now: () => number
}

/** The listeners of one run: progress or log, the summary, the run record. */
export function createObserver(options: ObserverOptions, terminal: Terminal) {
  const { runId, command, dataFolder, now } = options
  const redact = createRedact(options.secrets)
  const { listener, summary } = createSummary(now, version)
  const shown = shownProgress(options, terminal)
  const runsFolder = join(dataFolder, 'runs')
  const warned = new Set<string>()
  const emit = (event: RunEvent): void => {
    const clean = redactedEvent(event, redact)
    // several organisations may cause the same warning
    if (clean.type === 'warning' && warned.has(clean.message)) return
    if (clean.type === 'warning') warned.add(clean.message)
    listener(clean)
    shown.listener(clean)
  }
  return {
    emit,
    /** The runs up to this one, which counts as ended, for `meta.runs`. */
    runs: async (exitCode: ExitCode): Promise<RunRow[]> => {
      const rows = await readRunRecords(runsFolder, warner({ emit }), (record) =>
        runRow(ended(record)),
      )
      const earlier = rows.filter((each) => each.run_id !== runId)
      return [...earlier, runRow(summary(exitCode).record)]
    },
    open: async (): Promise<void> => {
      emit({ type: 'run.started', runId, command })
      await writeRunRecord(runsFolder, summary().record)
    },
    /** Ends the run record, and returns it with the closing summary. */
    close: async (exitCode: ExitCode, error: Error | null) => {
      const why = error === null ? {} : { error: error.message }
      emit({ type: 'run.finished', runId, exitCode, ...why })
      shown.stop()
      const { record } = summary()
      await writeRunRecord(runsFolder, record)
      const { organisations, totals, exports } = record
      // false for a failed run that requested, built and wrote nothing
      const didWork = exitCode === 0 || organisations.length + totals.models + exports.length > 0
      return { text: renderSummary(summary()), record, didWork }
    },
  }
}

function shownProgress({ log, now }: ObserverOptions, terminal: Terminal): Progress {
  const { err: write, draw, columns, hasColour: colour } = terminal
  const stop = (): void => undefined
  if (log === 'none') return { listener: stop, stop }
  if (log === 'json') return { listener: createJsonLog(write, now), stop }
  if (log === 'text' || !terminal.isTty) return { listener: createTextLog(write), stop }
  return createProgress({ write: draw, now, columns, colour })
}

function runRow(record: RunRecord): RunRow {
  const { run_id, command, version, status, exit_code, started_at, finished_at, totals } = record
  const { landed: days_landed, empty: days_empty, unchanged: days_unchanged, requests } = totals
  const days = { days_landed, days_empty, days_unchanged, days_failed: totals.failed }
  const run = { run_id, command, version, status, exit_code, started_at, finished_at }
  return { ...run, ...days, requests }
}
