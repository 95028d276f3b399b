import type { Database } from '../../lib/duckdb.ts'
import type { RunEvent } from '../../lib/events.ts'
import type { PlanOptions } from './plan.ts'
import type { WorkingCopy } from './working-copy.ts'

export interface BuildOptions extends PlanOptions {
  /** Writes more tables of schema `meta`; called between the models and the checks. */
  readonly meta?: (db: Database) => Promise<void>
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** Where queries spill. */
  readonly tempDirectory: string
  /** Stops the statement under way; nothing is published. */
  readonly signal?: AbortSignal
  /** A copy of `target` that was begun before. Default: it is made when it is needed. */
  readonly copy?: WorkingCopy
  /** The moment whose knowledge the sources hold, milliseconds since the epoch. Default: all. */
  readonly asOf?: number | null
  /** How many earlier published files are kept. Default: none. */
  readonly keep?: number
}

/** The options of a build, and where it reports. */
export interface Building extends BuildOptions {
  readonly report: (outcome: Outcome) => void
  /** Reports damage that was found. */
  readonly warn: (message: string) => void
}

/** What the steps of a build share. */
export interface BuildContext extends Building {
  readonly db: Database
  /** Another connection to it: it neither sees the temporary tables of `db` nor waits for it. */
  readonly second: Database
}

/** What became of a node, in dbt's words: a model is built, a check or a unit test passes. */
export interface Outcome {
  readonly kind: 'model' | 'check' | 'unit_test'
  /** Of the model, of the check, or of the unit test. */
  readonly name: string
  readonly status: 'success' | 'error' | 'skipped' | 'pass' | 'fail' | 'warn'
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMs: number
  /** Why it failed or was skipped. */
  readonly message: string | null
  /** Rows that are wrong; null for a model, and where they were not counted. */
  readonly failures: number | null
}

/** Reports that a model or a check is left out, and why. */
export function reportSkipped(
  { report, now }: BuildContext,
  kind: Outcome['kind'],
  name: string,
  message: string,
): void {
  const nothing = { startedAt: now(), durationMs: 0, failures: null }
  report({ kind, name, status: 'skipped', message, ...nothing })
}
