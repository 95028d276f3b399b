import type { RunEvent } from '../core/events.ts'
import type { Database } from '../store/duckdb.ts'
import type { Report } from './outcomes.ts'

/** What the stages of a build share. */
export interface BuildContext {
  readonly db: Database
  readonly emit: (event: RunEvent) => void
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly signal?: AbortSignal
  readonly report: Report
}
