/** What became of a node, in dbt's words: a model is built, a check or a unit test passes. */
export type OutcomeStatus = 'success' | 'error' | 'skipped' | 'pass' | 'fail' | 'warn'

export interface Outcome {
  readonly kind: 'model' | 'check' | 'unit_test'
  /** Of the model, of the check, or of the unit test. */
  readonly name: string
  readonly status: OutcomeStatus
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMs: number
  /** Why it failed or was skipped. */
  readonly message: string | null
  /** Rows that are wrong; null for a model. */
  readonly failures: number | null
}

/** Takes in what becomes of each node, in the order in which that is known. */
export type Report = (outcome: Outcome) => void
