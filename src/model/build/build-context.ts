import type { RunEvent } from '../../lib/events.ts'
import type { Database } from '../../lib/duckdb.ts'
import type { Report } from './outcomes.ts'

/** What the stages of a build share. */
export interface BuildContext {
  readonly db: Database
  /** Another connection to it: what is done there neither sees the temporary tables of `db` nor waits for it. */
  readonly second: Database
  readonly emit: (event: RunEvent) => void
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly signal?: AbortSignal
  readonly report: Report
}
