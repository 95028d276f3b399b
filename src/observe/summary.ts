import type { EventOf, IntervalOutcome, RunEvent } from '../lib/events.ts'
import type { Listener } from './log.ts'
import { createRedact, type Redact } from './redact.ts'
import { kindOf, type Warning } from './warnings.ts'

/**
 * Days of one resource, over every organisation. `unchanged`: a recheck found what was
 * already landed; `left`: asked for and not reached, a deadline or a rate limit came first.
 */
export const TOTALS = ['asked', 'landed', 'empty', 'unchanged', 'failed', 'left', 'rows'] as const
export type ResourceTotals = Readonly<Record<(typeof TOTALS)[number], number>>

export type FailedInterval = Omit<EventOf<'interval.failed'>, 'type'>
/** A settled day that came back much smaller. */
export type ShrunkInterval = Omit<EventOf<'interval.shrunk'>, 'type'>
/** A check whose rows were not as they should be. */
export type FailedCheck = Omit<EventOf<'check.finished'>, 'type' | 'durationMs'>

/** What a run did. Times are milliseconds since the epoch; durations are milliseconds. */
export interface Summary {
  readonly runId: string
  readonly command: string
  readonly startedAt: number
  /** Null while the run is under way. */
  readonly finishedAt: number | null
  readonly exitCode: number | null
  readonly error: string | null
  readonly organisations: readonly string[]
  readonly resources: Readonly<Record<string, ResourceTotals>>
  readonly failures: readonly FailedInterval[]
  readonly shrunk: readonly ShrunkInterval[]
  readonly requests: { readonly made: number; readonly retried: number; readonly bytes: number }
  readonly base: { readonly files: number; readonly rows: number }
  readonly models: number
  readonly checks: { readonly passed: number; readonly warned: number; readonly failed: number }
  readonly failedChecks: readonly FailedCheck[]
  readonly published: Omit<EventOf<'warehouse.published'>, 'type'> | null
  /** The file that holds what was built already, and stays as it is. */
  readonly unchanged: { readonly path: string } | null
  readonly rolledBack: Omit<EventOf<'warehouse.rolled_back'>, 'type'> | null
  readonly exports: readonly Omit<EventOf<'export.finished'>, 'type'>[]
  readonly warnings: readonly Warning[]
  readonly stages: readonly Omit<EventOf<'stage.finished'>, 'type'>[]
}

export interface SummaryCollector {
  readonly listener: Listener
  /** What is known so far. */
  readonly summary: () => Summary
}

interface Interval {
  readonly resource: string
  readonly rows: number
  readonly outcome: IntervalOutcome | 'failed'
  readonly failure: FailedInterval | null
}

/** Gathers a run's events into a Summary, secrets taken out of what it keeps. */
export function createSummary(options: {
  readonly now: () => number
  readonly redact?: Redact
}): SummaryCollector {
  const { now, redact = createRedact([]) } = options
  const intervals = new Map<string, Interval>()
  const asked = new Map<string, number>()
  let summary = emptySummary(now())

  const listener: Listener = (event) => {
    if (event.type === 'plan.made') {
      for (const [resource, days] of Object.entries(event.days)) {
        if (days > 0) asked.set(resource, (asked.get(resource) ?? 0) + days)
      }
    } else if (event.type === 'interval.finished' || event.type === 'interval.failed') {
      const key = `${event.orgId} ${event.resource} ${event.day}`
      intervals.set(key, latest(intervals.get(key), intervalOf(event, redact)))
    } else {
      summary = { ...summary, ...changeOf(summary, event, now(), redact) }
    }
  }
  return {
    listener,
    summary: () => ({
      ...summary,
      resources: totals(asked, [...intervals.values()]),
      failures: [...intervals.values()].flatMap(({ failure }) => failure ?? []),
    }),
  }
}

type OtherEvent = Exclude<RunEvent, IntervalEvent | { type: 'plan.made' }>

/** The members that an event changes. */
function changeOf(
  summary: Summary,
  event: OtherEvent,
  now: number,
  redact: Redact,
): Partial<Summary> {
  const { requests, base } = summary
  switch (event.type) {
    case 'run.started':
      return { runId: event.runId, command: event.command, startedAt: now }
    case 'organisation.identified':
      return { organisations: [...new Set([...summary.organisations, event.orgId])] }
    case 'interval.shrunk': {
      const { orgId, resource, day, sizeBefore, size, isConfirmed } = event
      const shrunk = { orgId, resource, day, sizeBefore, size, isConfirmed }
      return { shrunk: [...summary.shrunk, shrunk] }
    }
    case 'request.finished':
      return {
        requests: { ...requests, made: requests.made + 1, bytes: requests.bytes + event.bytes },
      }
    case 'request.retried':
      return { requests: { ...requests, retried: requests.retried + 1 } }
    case 'base.written':
      return { base: { files: base.files + 1, rows: base.rows + event.rows } }
    case 'model.built':
      return { models: summary.models + 1 }
    case 'check.finished':
      return afterCheck(summary, event)
    case 'warehouse.published':
      return { published: { path: event.path, bytes: event.bytes } }
    case 'warehouse.unchanged':
      return { unchanged: { path: event.path } }
    case 'warehouse.rolled_back':
      return { rolledBack: { from: event.from, to: event.to } }
    case 'export.finished': {
      const { target, path, tables, rows } = event
      return { exports: [...summary.exports, { target, path, tables, rows }] }
    }
    case 'warning':
      return { warnings: [...summary.warnings, warningOf(event, redact)] }
    case 'stage.finished': {
      const { stage, durationMs } = event
      return { stages: [...summary.stages, { stage, durationMs }] }
    }
    case 'run.finished': {
      const error = event.error === undefined ? null : redact(event.error)
      return { finishedAt: now, exitCode: event.exitCode, error }
    }
    case 'organisation.addressed':
    case 'page.landed':
    case 'walk.resumed':
    case 'model.refreshed':
    case 'governor.paused':
      return {}
  }
}

function warningOf({ message, about, kind }: EventOf<'warning'>, redact: Redact): Warning {
  const text = redact(message)
  return { message: text, about: about ?? null, kind: kind ?? kindOf(text) }
}

function afterCheck(
  { checks, failedChecks }: Summary,
  { check, severity, failures }: FailedCheck,
): Partial<Summary> {
  if (failures === 0) return { checks: { ...checks, passed: checks.passed + 1 } }
  const kind = severity === 'error' ? 'failed' : 'warned'
  return {
    checks: { ...checks, [kind]: checks[kind] + 1 },
    failedChecks: [...failedChecks, { check, severity, failures }],
  }
}

/** Of an interval that is reported twice, the last report counts; but what landed in the run stays landed. */
function latest(before: Interval | undefined, now: Interval): Interval {
  const isLanded = before?.outcome === 'landed' || before?.outcome === 'empty'
  return isLanded && now.outcome === 'unchanged' ? before : now
}

type IntervalEvent = EventOf<'interval.finished'> | EventOf<'interval.failed'>

function intervalOf(event: IntervalEvent, redact: Redact): Interval {
  const { orgId, resource, day } = event
  if (event.type === 'interval.finished') {
    return { resource, rows: event.rows, outcome: event.outcome, failure: null }
  }
  const failure = { orgId, resource, day, error: redact(event.error), requestId: event.requestId }
  return { resource, rows: 0, outcome: 'failed', failure }
}

function totals(
  asked: ReadonlyMap<string, number>,
  intervals: readonly Interval[],
): Record<string, ResourceTotals> {
  const resources = new Set([...asked.keys(), ...intervals.map(({ resource }) => resource)])
  return Object.fromEntries(
    [...resources].map((resource) => {
      const own = intervals.filter((interval) => interval.resource === resource)
      return [resource, totalsOf(own, asked.get(resource) ?? 0)]
    }),
  )
}

function totalsOf(intervals: readonly Interval[], planned: number): ResourceTotals {
  const number = (outcome: Interval['outcome']): number =>
    intervals.filter((interval) => interval.outcome === outcome).length
  const asked = Math.max(planned, intervals.length)
  return {
    asked,
    landed: number('landed'),
    empty: number('empty'),
    unchanged: number('unchanged'),
    failed: number('failed'),
    left: asked - intervals.length,
    rows: intervals.reduce((sum, { rows }) => sum + rows, 0),
  }
}

function emptySummary(startedAt: number): Summary {
  return {
    runId: '',
    command: '',
    startedAt,
    finishedAt: null,
    exitCode: null,
    error: null,
    organisations: [],
    resources: {},
    failures: [],
    shrunk: [],
    requests: { made: 0, retried: 0, bytes: 0 },
    base: { files: 0, rows: 0 },
    models: 0,
    checks: { passed: 0, warned: 0, failed: 0 },
    failedChecks: [],
    published: null,
    unchanged: null,
    rolledBack: null,
    exports: [],
    warnings: [],
    stages: [],
  }
}
