import {
  handle,
  type EventOf,
  type Handlers,
  type IntervalOutcome,
  type RunEvent,
} from '../lib/events.ts'
import { DAYS, ENDS, newRecord, noDays, type Days, type RunRecord } from './run-record.ts'

/** Gets every event of a run, in order, without secrets. */
export type Listener = (event: RunEvent) => void

export type Warning = Omit<EventOf<'warning'>, 'type'>

/** The state of a run: its record, and what only the closing text needs. */
export type Summary = Readonly<ReturnType<ReturnType<typeof createSummary>['summary']>>

/**
 * Collects a run's events. `summary` returns the current state or, with an exit code, the state as
 * if the run ended now. `version` is the package's.
 */
export function createSummary(now: () => number, version: string) {
  const record = newRecord(isoOf(now()), version)
  const tally = new Tally()
  const warnings: Warning[] = []
  let unchanged: string | null = null
  return {
    listener: (event: RunEvent): void => {
      tally.add(event)
      handle(NOTES, event, record, isoOf(now()))
      if (event.type === 'warning') warnings.push(event)
      if (event.type === 'warehouse.unchanged') unchanged = event.path
    },
    summary: (exit_code?: number) => {
      const { resources, failures } = tally
      const totals = { ...record.totals, ...sumOf(Object.values(resources)) }
      const end = exit_code === undefined ? {} : { exit_code, finished_at: isoOf(now()) }
      const organisations = record.organisations.toSorted() // they answer in any order
      const parts = { organisations, totals, resources, failures }
      const whole = structuredClone({ ...record, ...end, ...parts })
      return {
        record: { ...whole, status: statusOf(whole) },
        /** The warnings of the record, with their subjects. */
        warnings: [...warnings],
        /** The path of the published file if the build made nothing new. */
        unchanged,
      }
    },
  }
}

/** Adds an event to the record; the Tally counts intervals. */
const NOTES: Handlers<[record: RunRecord, now: string], void> = {
  'run.started': ({ runId, command }, record, now) => {
    record.run_id = runId
    record.command = command
    record.started_at = now
  },
  'organisation.identified': ({ orgId }, { organisations }) => {
    if (!organisations.includes(orgId)) organisations.push(orgId)
  },
  'organisation.failed': ({ name, orgId, error, exitCode }, { failed_organisations }) =>
    void failed_organisations.push({ name, org_id: orgId, error, exit_code: exitCode }),
  'interval.shrunk': ({ orgId, resource, day, sizeBefore, size, isConfirmed }, { shrunk }) => {
    const sizes = { size_before: sizeBefore, size, is_confirmed: isConfirmed }
    shrunk.push({ org_id: orgId, resource, day, ...sizes })
  },
  'request.finished': ({ bytes }, { totals }) => {
    totals.requests += 1
    totals.bytes += bytes
  },
  'request.retried': (_, { totals }) => void (totals.retries += 1),
  'base.written': (_, { totals }) => void (totals.base_files += 1),
  'model.built': (_, { totals }) => void (totals.models += 1),
  'check.finished': ({ check, severity, failures }, { totals, failed_checks }) => {
    const kind = severity === 'error' ? 'checks_failed' : 'checks_warned'
    totals[failures === 0 ? 'checks_passed' : kind] += 1
    if (failures > 0) failed_checks.push({ check, severity, failures })
  },
  'warehouse.published': ({ path, bytes }, record) => void (record.published = { path, bytes }),
  'warehouse.rolled_back': ({ from, to }, record) => void (record.rolled_back = { from, to }),
  'export.finished': ({ target, path, tables, rows }, { exports }) =>
    void exports.push({ target, path, tables, rows }),
  'report.finished': ({ path, bytes }, { reports }) => void reports.push({ path, bytes }),
  warning: ({ message }, { warnings }) => void warnings.push(message),
  'stage.finished': ({ stage, durationMs }, { stages }) =>
    void stages.push({ stage, duration_ms: durationMs }),
  'run.finished': ({ exitCode, error = null }, record, now) => {
    record.exit_code = exitCode
    record.error = error
    record.finished_at = now
  },
}

/** A fleet has many thousands, in memory to the end of the run: it holds no more than this. */
interface Interval {
  readonly outcome: IntervalOutcome | 'failed'
  readonly rows: number
  readonly failure?: RunRecord['failures'][number]
}

/**
 * Counts the days of each resource. The last report of a day counts, but a day that landed
 * in the run stays landed.
 */
export class Tally {
  readonly #resources = new Map<string, ResourceTally>()

  add(event: RunEvent): void {
    if (event.type === 'plan.made') {
      for (const [resource, count] of Object.entries(event.days))
        if (count > 0) this.#added(resource).planned += count
    } else if (event.type === 'interval.finished') {
      const { orgId, resource, day, outcome, rows } = event
      this.#added(resource).add(orgId, day, { outcome, rows })
    } else if (event.type === 'interval.failed') {
      const { orgId, resource, day, error, requestId } = event
      const failure = { org_id: orgId, resource, day, error, request_id: requestId }
      this.#added(resource).add(orgId, day, { outcome: 'failed', rows: 0, failure })
    }
  }

  /** The counts of a resource; all are zero before its first event. */
  of(resource: string): ResourceTally {
    return this.#resources.get(resource) ?? new ResourceTally()
  }

  get resources(): Record<string, Days> {
    return Object.fromEntries([...this.#resources].map(([name, tally]) => [name, tally.days()]))
  }

  get failures(): RunRecord['failures'] {
    const intervals = [...this.#resources.values()].flatMap((tally) => tally.intervals())
    const failures = intervals.flatMap(({ failure }) => failure ?? [])
    return failures.toSorted((a, b) => (a.org_id < b.org_id ? -1 : Number(a.org_id > b.org_id)))
  }

  #added(resource: string): ResourceTally {
    const known = this.of(resource)
    this.#resources.set(resource, known)
    return known
  }
}

class ResourceTally {
  planned = 0
  done = 0
  /** By organisation and day. */
  readonly #intervals = new Map<string, Map<string, Interval>>()

  add(orgId: string, day: string, interval: Interval): void {
    const days = this.#intervals.get(orgId) ?? new Map<string, Interval>()
    this.#intervals.set(orgId, days)
    const known = days.get(day)
    if (known === undefined) this.done += 1
    const isLanded = known?.outcome === 'landed' || known?.outcome === 'empty'
    if (!isLanded || interval.outcome !== 'unchanged') days.set(day, interval)
  }

  intervals(): Interval[] {
    return [...this.#intervals.values()].flatMap((days) => [...days.values()])
  }

  days(): Days {
    const asked = Math.max(this.planned, this.done)
    const days = { ...noDays(), asked, left: asked - this.done }
    for (const { outcome, rows } of this.intervals()) {
      if (outcome !== 'compared') days[outcome] += 1
      days.rows += rows
    }
    return days
  }
}

/** The status by the exit code, except that a run which lacks an interval is never complete. */
function statusOf({ exit_code, totals }: RunRecord): RunRecord['status'] {
  if (exit_code === null) return 'running'
  const ends: Readonly<Record<number, RunRecord['status']>> = ENDS
  const status = ends[exit_code] ?? 'failed'
  return status === 'complete' && totals.failed + totals.left > 0 ? 'partial' : status
}

function sumOf(resources: readonly Days[]): Days {
  const sum = noDays()
  for (const one of resources) for (const name of DAYS) sum[name] += one[name]
  return sum
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
