/** A limit on requests, as measured or as stated by the platform. */
export interface LearnedLimit {
  /** Requests a second. */
  readonly rate: number
  /** Requests at once of a rested credential. */
  readonly burst: number
  /** Measured by refusals, or stated in headers. */
  readonly source: 'refusals' | 'headers'
  /** Milliseconds since the epoch. */
  readonly measuredAt: number
}

/** What the governor of one credential learned, kept from run to run. */
export interface Learned {
  /** Null while no limit was met. */
  readonly limit: LearnedLimit | null
  /** Requests in flight. */
  readonly concurrency: number
}
