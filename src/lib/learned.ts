/** A rate limit, as measured or as stated by the platform. */
export interface LearnedLimit {
  /** Requests a second. */
  readonly rate: number
  /** Requests at once after a rest. */
  readonly burst: number
  /** Measured by refusals, or stated in headers. */
  readonly source: 'refusals' | 'headers'
  /** Milliseconds since the epoch. */
  readonly measuredAt: number
}

/** What the governor of one credential learned; it is saved for the next run. */
export interface Learned {
  /** Null before the first refusal. */
  readonly limit: LearnedLimit | null
  /** Requests in flight. */
  readonly concurrency: number
}
