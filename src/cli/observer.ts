import { join } from 'node:path'
import { messageOf, type ExitCode } from '../lib/errors.ts'
import type { RunEvent } from '../lib/events.ts'
import type { RunRow } from '../model/publish/record.ts'
import type { RunsSoFar } from '../pipeline/publish.ts'
import { createJsonLog, createTextLog, type Listener } from '../observe/log.ts'
import { createProgress } from '../observe/progress.ts'
import { createRedact, type Redact } from '../observe/redact.ts'
import {
  readRunRecords,
  runRecordOf,
  writeRunRecord,
  type RunRecord,
} from '../observe/run-record.ts'
import { createSummary } from '../observe/summary.ts'
import { renderSummary } from '../observe/summary-text.ts'
import { version } from '../lib/package.ts'
import type { Terminal } from './command.ts'

export type LogMode = 'auto' | 'text' | 'json' | 'none'

/** Everything that listens to one run: progress or log, the summary, the run record. */
export interface Observer {
  readonly emit: (event: RunEvent) => void
  /** This run, as it will have ended, and the ones before it, for `meta.runs`. */
  readonly runs: RunsSoFar
  /** Writes the first run record: from here on the run is on file. */
  readonly open: () => Promise<void>
  /** Ends the run record. */
  readonly close: (exitCode: ExitCode, error: unknown) => Promise<Closing>
}

export interface Closing {
  /** The closing summary. */
  readonly text: string
  readonly record: RunRecord
  /** False when the run ended before it asked for, built or wrote anything. */
  readonly didWork: boolean
}

export interface ObserverOptions {
  readonly runId: string
  readonly command: string
  readonly dataFolder: string
  readonly log: LogMode
  readonly secrets: readonly string[]
  readonly now: () => number
}

export function createObserver(options: ObserverOptions, terminal: Terminal): Observer {
  const redact = createRedact(options.secrets)
  const { now } = options
  const summary = createSummary({ now, redact })
  const shown = shownListener(options, terminal, redact)
  const runsFolder = join(options.dataFolder, 'runs')
  const emit = (event: RunEvent): void => {
    summary.listener(event)
    shown.listener(event)
  }
  const record = (): RunRecord => runRecordOf(summary.summary(), version)
  return {
    emit,
    runs: async (exitCode) => {
      const { records } = await readRunRecords(runsFolder)
      const earlier = records.filter((each) => each.run_id !== options.runId).map(ended)
      const soFar = { ...summary.summary(), exitCode, finishedAt: now() }
      return [...earlier, runRecordOf(soFar, version)].map(runRow)
    },
    open: async () => {
      emit({ type: 'run.started', runId: options.runId, command: options.command })
      await writeRunRecord(runsFolder, record())
    },
    close: async (exitCode, error) => {
      emit({
        type: 'run.finished',
        runId: options.runId,
        exitCode,
        ...(error === null ? {} : { error: messageOf(error) }),
      })
      shown.stop()
      await writeRunRecord(runsFolder, record())
      const { organisations, models, exports } = summary.summary()
      const didWork = exitCode === 0 || organisations.length + models + exports.length > 0
      return { text: renderSummary(summary.summary()), record: record(), didWork }
    },
  }
}

function shownListener(
  { log: mode, now }: ObserverOptions,
  terminal: Terminal,
  redact: Redact,
): { listener: Listener; stop: () => void } {
  const write = terminal.err
  const stop = (): void => undefined
  if (mode === 'none') return { listener: () => undefined, stop }
  if (mode === 'json') return { listener: createJsonLog(write, now, redact), stop }
  if (mode === 'text' || !terminal.isTty) return { listener: createTextLog(write, redact), stop }
  const columns = (): number => terminal.columns
  return createProgress({ write: terminal.draw, now, columns, colour: terminal.hasColour, redact })
}

/** Only the holder of the lock runs: an earlier run that has not ended never will. */
function ended(record: RunRecord): RunRecord {
  return record.status === 'running' ? { ...record, status: 'killed' } : record
}

function runRow(record: RunRecord): RunRow {
  return {
    runId: record.run_id,
    command: record.command,
    version: record.version,
    status: record.status,
    exitCode: record.exit_code,
    startedAt: record.started_at,
    finishedAt: record.finished_at,
    daysLanded: record.totals.landed,
    daysEmpty: record.totals.empty,
    daysUnchanged: record.totals.unchanged,
    daysFailed: record.totals.failed,
    requests: record.totals.requests,
  }
}
