import { ExitCode } from '../lib/errors.ts'
import type { EventOf, RunEvent } from '../lib/events.ts'
import { createRedact, type Redact } from './redact.ts'
import { addressing, counted, digits, duration, oneLine, shrinkage } from './words.ts'
import { size } from '../lib/text.ts'

/** Gets every event of a run, in order. */
export type Listener = (event: RunEvent) => void

export type Write = (text: string) => void

/** A model that takes less has no line of its own: there are dozens. */
const SLOW_MODEL_MS = 5_000

/** Fewer days have no lines on the way: a night has a handful a resource. */
const MANY_DAYS = 40

/**
 * One plain line for each event that a person wants in a nightly log. Requests,
 * pages, base files, quick models and passed checks have none; the many days of
 * a backfill have one each time another quarter of a resource's is done.
 */
export function createTextLog(write: Write, redact: Redact = createRedact([])): Listener {
  const quarterOf = createQuarters()
  const held: RunEvent[] = []
  let hasBegun = false
  return (event) => {
    hasBegun ||= !FRAME.has(event.type)
    held.push(event)
    if (event.type === 'run.finished' && !hasBegun && event.exitCode === ExitCode.usage) return
    if (!hasBegun && event.type !== 'run.finished') return
    for (const line of held.splice(0).flatMap((each) => [lineOf(each), quarterOf(each)])) {
      if (line !== undefined) write(`${oneLine(redact(line))}\n`)
    }
  }
}

/**
 * What every run has. One that is refused (2) with nothing between has no lines: its
 * error says all there is to say.
 */
const FRAME: ReadonlySet<RunEvent['type']> = new Set([
  'run.started',
  'stage.finished',
  'run.finished',
])

/** Every event as a line of JSON: `at` (ISO 8601, UTC), then the event's own members. */
export function createJsonLog(
  write: Write,
  now: () => number,
  redact: Redact = createRedact([]),
): Listener {
  const redactValue = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? redact(value) : value
  return (event) => {
    const record = { at: new Date(now()).toISOString(), ...event }
    write(`${JSON.stringify(record, redactValue)}\n`)
  }
}

function lineOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run.started':
      return `${event.command} started, run ${event.runId}`
    case 'organisation.addressed':
      return addressing(event)
    case 'organisation.identified':
      return `organisation ${event.orgId}, where it is ${event.today}${skewOf(event.skewSeconds)}`
    case 'plan.made':
      return planLine(event)
    case 'request.retried':
      return `retry ${event.path} in ${duration(event.waitMs)} after attempt ${event.attempt}: ${event.reason}`
    case 'governor.paused':
      return `waiting ${duration(event.waitMs)}: ${event.reason}`
    case 'walk.resumed':
      return `${event.resource} ${event.day} of ${event.orgId} goes on after page ${digits(event.pages)}`
    case 'interval.shrunk':
      return `shrunk: ${shrinkage(event)}`
    case 'interval.failed':
      return `failed ${event.resource} ${event.day} of ${event.orgId}: ${event.error}${request(event.requestId, event.error)}`
    case 'model.built':
      return event.durationMs < SLOW_MODEL_MS
        ? undefined
        : `built ${event.model}${rowsOf(event.rows)} in ${duration(event.durationMs)}`
    case 'model.refreshed':
      return `full refresh of ${event.model}: ${event.reason}`
    case 'check.finished':
      return event.failures === 0 ? undefined : checkLine(event)
    case 'warehouse.published':
      return `published ${event.path} (${size(event.bytes)})`
    case 'warehouse.unchanged':
      return `nothing changed: ${event.path} stays as it is`
    case 'warehouse.rolled_back':
      return `rolled back to the file of run ${event.to}`
    case 'export.finished':
      return `exported ${counted(event.tables, 'table')}, ${counted(event.rows, 'row')} to ${event.path}`
    case 'warning':
      return `warning: ${event.message}`
    case 'stage.finished':
      return `${event.stage} finished in ${duration(event.durationMs)}`
    case 'run.finished':
      return `run ${event.runId} finished with exit code ${event.exitCode}`
    case 'request.finished':
    case 'page.landed':
    case 'interval.finished':
    case 'base.written':
      return undefined
  }
}

function planLine({ orgId, requests, days, reasons }: EventOf<'plan.made'>): string {
  const due = Object.entries(days).filter(([, count]) => count > 0)
  if (due.length === 0) return `plan for ${orgId}: nothing is due`
  const asked = due.map(([resource, count]) => `${resource} ${digits(count)}`).join(', ')
  const why = Object.entries(reasons).filter(([, count]) => count > 0)
  const whyText = why.map(([name, count]) => `${digits(count)} ${name}`).join(', ')
  return `plan for ${orgId}: ${counted(requests, 'request')} for days of ${asked} (${whyText})`
}

function checkLine({ check, severity, failures }: EventOf<'check.finished'>): string {
  const verdict = severity === 'error' ? 'failed' : 'warned'
  return `check ${check} ${verdict}: ${counted(failures, 'row')}`
}

/** Reports a resource's days only when a further quarter of those due is done. */
function createQuarters(): (event: RunEvent) => string | undefined {
  const due = new Map<string, number>()
  const done = new Map<string, number>()
  const addTo = (counts: Map<string, number>, resource: string, count: number): number => {
    const sum = (counts.get(resource) ?? 0) + count
    counts.set(resource, sum)
    return sum
  }
  return (event) => {
    if (event.type === 'plan.made') {
      for (const [resource, count] of Object.entries(event.days)) addTo(due, resource, count)
      return undefined
    }
    if (event.type !== 'interval.finished' && event.type !== 'interval.failed') return undefined
    const all = due.get(event.resource) ?? 0
    const now = addTo(done, event.resource, 1)
    const isFurther = Math.floor((4 * now) / all) > Math.floor((4 * (now - 1)) / all)
    if (all < MANY_DAYS || now > all || !isFurther) return undefined
    return `${event.resource} ${digits(now)} of ${counted(all, 'day')}`
  }
}

function skewOf(seconds: number): string {
  return seconds === 0
    ? ''
    : ` (its clock is ${digits(Math.abs(seconds))}s ${seconds > 0 ? 'ahead' : 'behind'})`
}

/** An error of the client names the request already. */
function request(id: string | null, error: string): string {
  return id === null || error.includes(id) ? '' : ` (request ${id})`
}

function rowsOf(rows: number | null): string {
  return rows === null ? '' : `, ${counted(rows, 'row')},`
}
