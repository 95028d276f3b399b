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

/** The members of each event, by its type. */
interface Events {
  'run.started': { readonly runId: string; readonly command: string }
  /** Before the first request: where a credential is sent, and where it comes from. */
  'organisation.addressed': {
    readonly name: string
    readonly addresses: readonly string[]
    /** The variable, file or command that holds the key; never the key. */
    readonly keySource: string
    /** The number of other organisations with the same hosts, if there are too many to name each. */
    readonly others?: number
  }
  /** The first response of an organisation: its id and the day by its clock. */
  'organisation.identified': {
    readonly orgId: string
    readonly today: string
    /** Seconds by which the server's clock is ahead of this machine's. */
    readonly skewSeconds: number
  }
  /** One of several organisations, or some of its days, did not finish. */
  'organisation.failed': {
    readonly name: string
    /** Null while unknown. */
    readonly orgId: string | null
    readonly error: string
    /** The exit code of a run for this organisation alone. */
    readonly exitCode: number
  }
  'plan.made': {
    readonly orgId: string
    readonly requests: number
    /** Days to request, by resource. */
    readonly days: Readonly<Record<string, number>>
    readonly reasons: Readonly<Record<PlanReason, number>>
  }
  'request.finished': {
    /** Path and query, with a digest in the place of a cursor. */
    readonly path: string
    readonly status: number
    readonly durationMs: number
    readonly bytes: number
    readonly requestId: string | null
  }
  /** An attempt failed; the next one follows after `waitMs`. */
  'request.retried': {
    /** Path and query, with a digest in the place of a cursor. */
    readonly path: string
    readonly attempt: number
    /** Also names the request. */
    readonly reason: string
    readonly waitMs: number
  }
  /** Every request of the credential waits. */
  'governor.paused': { readonly waitMs: number; readonly reason: string }
  'page.received': OfDay & { readonly rows: number }
  /** Pagination that an earlier run began continues; its first pages are not requested again. */
  'pagination.resumed': OfDay & { readonly pages: number }
  'interval.finished': OfDay & { readonly outcome: IntervalOutcome; readonly rows: number }
  /** A settled day came back empty or less than half as large; it counts once a second recheck confirms it. */
  'interval.shrunk': OfDay & {
    /** Users, daily active users, or rows, as landed. */
    readonly sizeBefore: number
    readonly size: number
    readonly isConfirmed: boolean
  }
  'interval.failed': OfDay & { readonly error: string; readonly requestId: string | null }
  'base.written': {
    readonly orgId: string
    readonly entity: string
    readonly month: string
    readonly rows: number
  }
  /** Files of a month were merged into one. */
  'lake.merged': {
    readonly orgId: string
    readonly resource: string
    /** `YYYY-MM`. */
    readonly month: string
    readonly files: number
    readonly bytes: number
  }
  'model.built': {
    readonly model: string
    readonly rows: number | null
    /** The number of replaced intervals, if the model was updated. */
    readonly intervals?: number
    readonly durationMs: number
  }
  /** An existing incremental model is built again from scratch, and why. */
  'model.refreshed': { readonly model: string; readonly reason: string }
  'check.finished': {
    readonly check: string
    readonly severity: 'error' | 'warn'
    readonly failures: number
    readonly durationMs: number
  }
  'warehouse.published': { readonly path: string; readonly bytes: number }
  /** The build made nothing new, so the published file stays. */
  'warehouse.unchanged': { readonly path: string }
  /** An earlier file is published again; `from` and `to` are ids of runs. */
  'warehouse.rolled_back': { readonly from: string | null; readonly to: string }
  'export.finished': {
    readonly target: string
    readonly path: string
    readonly tables: number
    readonly rows: number
  }
  'report.finished': { readonly path: string; readonly bytes: number }
  warning: {
    readonly message: string
    readonly about?: WarningSubject
    /** Warnings of one kind say the same about different things. Default: derived from the message. */
    readonly kind?: string
  }
  'stage.finished': { readonly stage: string; readonly durationMs: number }
  'run.finished': {
    readonly runId: string
    readonly exitCode: number
    /** One line: why the run ended early. Absent if it did not. */
    readonly error?: string
  }
}

export type EventOf<Type extends keyof Events> = Events[Type] & { readonly type: Type }

/** Everything that happens in a run. Progress, log and run record are listeners. */
export type RunEvent = { [Type in keyof Events]: EventOf<Type> }[keyof Events]

export type Handlers<Others extends unknown[], Result> = {
  readonly [Type in keyof Events]?: (event: EventOf<Type>, ...others: Others) => Result
}

/** Calls the handler of an event's type; undefined if there is none. */
export function handle<Type extends keyof Events, Others extends unknown[], Result>(
  handlers: Handlers<Others, Result>,
  event: EventOf<Type>,
  ...others: Others
): Result | undefined {
  return handlers[event.type]?.(event, ...others)
}
