import { join } from 'node:path'
import type { ExitCode } from '../lib/errors.ts'
import type { RunEvent } from '../lib/events.ts'
import type { RunRow } from '../model/publish/meta.ts'
import { createJsonLog, createTextLog } from '../observe/log.ts'
import { createProgress, type Progress } from '../observe/progress.ts'
import { createRedact, redactedEvent } from '../observe/redact.ts'
import { readRunRecords, writeRunRecord, type RunRecord } from '../observe/run-record.ts'
import { createSummary } from '../observe/summary.ts'
import { renderSummary } from '../observe/summary-text.ts'
import { version } from '../lib/package.ts'
import type { Terminal } from './command.ts'

export type LogMode = 'auto' | 'text' | 'json' | 'none'

/** Everything that listens to one run: progress or log, the summary, the run record. */
export type Observer = ReturnType<typeof createObserver>

export interface ObserverOptions {
  readonly runId: string
  readonly command: string
  readonly dataFolder: string
  readonly log: LogMode
  readonly secrets: readonly string[]
  readonly now: () => number
}

export function createObserver(options: ObserverOptions, terminal: Terminal) {
  const { runId, command, dataFolder, now } = options
  const redact = createRedact(options.secrets)
  const { listener, summary } = createSummary(now, version)
  const shown = shownProgress(options, terminal)
  const runsFolder = join(dataFolder, 'runs')
  const emit = (event: RunEvent): void => {
    const clean = redactedEvent(event, redact)
    listener(clean)
    shown.listener(clean)
  }
  return {
    emit,
    /** The runs up to this one, as it will have ended, for `meta.runs`. */
    runs: async (exitCode: ExitCode): Promise<RunRow[]> => {
      const { records } = await readRunRecords(runsFolder)
      const earlier = records.filter((each) => each.run_id !== runId).map(ended)
      return [...earlier, summary(exitCode).record].map(runRow)
    },
    /** Writes the first run record: from here on the run is on file. */
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
      // Not where it ended before it asked for, built or wrote anything.
      const didWork = exitCode === 0 || organisations.length + totals.models + exports.length > 0
      return { text: renderSummary(summary()), record, didWork }
    },
  }
}

function shownProgress({ log, now }: ObserverOptions, terminal: Terminal): Progress {
  const { err: write, draw, hasColour: colour } = terminal
  const stop = (): void => undefined
  if (log === 'none') return { listener: stop, stop }
  if (log === 'json') return { listener: createJsonLog(write, now), stop }
  if (log === 'text' || !terminal.isTty) return { listener: createTextLog(write), stop }
  return createProgress({ write: draw, now, columns: () => terminal.columns, colour })
}

/** Only the holder of the lock runs: an earlier run that has not ended never will. */
function ended(record: RunRecord): RunRecord {
  return record.status === 'running' ? { ...record, status: 'killed' } : record
}

function runRow(record: RunRecord): RunRow {
  const { run_id, command, version, status, exit_code, started_at, finished_at, totals } = record
  return {
    ...{ run_id, command, version, status, exit_code, started_at, finished_at },
    days_landed: totals.landed,
    days_empty: totals.empty,
    days_unchanged: totals.unchanged,
    days_failed: totals.failed,
    requests: totals.requests,
  }
}
