/** Why an interval is requested. */
export type PlanReason = 'missing' | 'failed' | 'recheck' | 'forced'

/**
 * The result of one requested interval. `unchanged`: a recheck found the landed
 * version. `compared`: requested to verify the warehouse, not to land.
 */
export type IntervalOutcome = 'landed' | 'empty' | 'unchanged' | 'compared'

/** The subject of a warning, if it decides in which order warnings are shown. */
export type WarningSubject = 'lease' | 'damage' | 'numbers' | 'drift'

interface OfDay {
  readonly orgId: string
  readonly resource: string
  readonly day: string
}

/** Everything that happens in a run. Progress, log and run record are listeners. */
export type RunEvent =
  | { readonly type: 'run.started'; readonly runId: string; readonly command: string }
  /** Before the first request: where a credential is sent, and where it comes from. */
  | {
      readonly type: 'organisation.addressed'
      readonly name: string
      readonly addresses: readonly string[]
      /** The variable, file or command that holds the key; never the key. */
      readonly keySource: string
      /** The number of other organisations with the same hosts, if there are too many to name each. */
      readonly others?: number
    }
  /** The first answer of an organisation: its id and the day by its clock. */
  | {
      readonly type: 'organisation.identified'
      readonly orgId: string
      readonly today: string
      /** Seconds by which the server's clock is ahead of this machine's. */
      readonly skewSeconds: number
    }
  /** One of several organisations, or some of its days, did not finish. */
  | {
      readonly type: 'organisation.failed'
      readonly name: string
      /** Null while unknown. */
      readonly orgId: string | null
      readonly error: string
      /** The exit code of a run for this organisation alone. */
      readonly exitCode: number
    }
  | {
      readonly type: 'plan.made'
      readonly orgId: string
      readonly requests: number
      /** Days to request, by resource. */
      readonly days: Readonly<Record<string, number>>
      readonly reasons: Readonly<Record<PlanReason, number>>
    }
  | {
      readonly type: 'request.finished'
      /** Path and query, with a digest in the place of a cursor. */
      readonly path: string
      readonly status: number
      readonly durationMs: number
      readonly bytes: number
      readonly requestId: string | null
    }
  /** An attempt failed; the next one follows after `waitMs`. */
  | {
      readonly type: 'request.retried'
      /** Path and query, with a digest in the place of a cursor. */
      readonly path: string
      readonly attempt: number
      /** Also names the request. */
      readonly reason: string
      readonly waitMs: number
    }
  /** Every request of the credential waits. */
  | { readonly type: 'governor.paused'; readonly waitMs: number; readonly reason: string }
  | (OfDay & {
      readonly type: 'page.received'
      readonly rows: number
    })
  /** Pagination that an earlier run began continues; its first pages are not requested again. */
  | (OfDay & {
      readonly type: 'pagination.resumed'
      readonly pages: number
    })
  | (OfDay & {
      readonly type: 'interval.finished'
      readonly outcome: IntervalOutcome
      readonly rows: number
    })
  /** A settled day came back empty or less than half as large; it counts once a second recheck confirms it. */
  | (OfDay & {
      readonly type: 'interval.shrunk'
      /** Users, daily active users, or rows, as landed. */
      readonly sizeBefore: number
      readonly size: number
      readonly isConfirmed: boolean
    })
  | (OfDay & {
      readonly type: 'interval.failed'
      readonly error: string
      readonly requestId: string | null
    })
  | {
      readonly type: 'base.written'
      readonly orgId: string
      readonly entity: string
      readonly month: string
      readonly rows: number
    }
  /** Files of a month were merged into one. */
  | {
      readonly type: 'lake.merged'
      readonly orgId: string
      readonly resource: string
      /** `YYYY-MM`. */
      readonly month: string
      readonly files: number
      readonly bytes: number
    }
  | {
      readonly type: 'model.built'
      readonly model: string
      readonly rows: number | null
      /** The number of replaced intervals, if the model was updated. */
      readonly intervals?: number
      readonly durationMs: number
    }
  /** An existing incremental model is built again from scratch, and why. */
  | { readonly type: 'model.refreshed'; readonly model: string; readonly reason: string }
  | {
      readonly type: 'check.finished'
      readonly check: string
      readonly severity: 'error' | 'warn'
      readonly failures: number
      readonly durationMs: number
    }
  | { readonly type: 'warehouse.published'; readonly path: string; readonly bytes: number }
  /** The build made nothing new, so the published file stays. */
  | { readonly type: 'warehouse.unchanged'; readonly path: string }
  /** An earlier file is published again; `from` and `to` are ids of runs. */
  | { readonly type: 'warehouse.rolled_back'; readonly from: string | null; readonly to: string }
  | {
      readonly type: 'export.finished'
      readonly target: string
      readonly path: string
      readonly tables: number
      readonly rows: number
    }
  | { readonly type: 'report.finished'; readonly path: string; readonly bytes: number }
  | {
      readonly type: 'warning'
      readonly message: string
      readonly about?: WarningSubject
      /** Warnings of one kind say the same about different things. Default: derived from the message. */
      readonly kind?: string
    }
  | { readonly type: 'stage.finished'; readonly stage: string; readonly durationMs: number }
  | {
      readonly type: 'run.finished'
      readonly runId: string
      readonly exitCode: number
      /** One line: why the run ended early. Absent if it did not. */
      readonly error?: string
    }

type EventMap = { readonly [Event in RunEvent as Event['type']]: Event }

export type EventOf<Type extends RunEvent['type']> = EventMap[Type]

export type Handlers<Others extends unknown[], Result> = {
  readonly [Type in RunEvent['type']]?: (event: EventMap[Type], ...others: Others) => Result
}

/** Calls the handler of an event's type; undefined if there is none. */
export function handle<Type extends RunEvent['type'], Others extends unknown[], Result>(
  handlers: Handlers<Others, Result>,
  event: EventMap[Type] & { readonly type: Type },
  ...others: Others
): Result | undefined {
  return handlers[event.type]?.(event, ...others)
}
