import { ExitCode } from '../lib/errors.ts'
import type { EventOf, RunEvent } from '../lib/events.ts'
import { oneLine, size } from '../lib/text.ts'
import { Tally, type Listener } from './summary.ts'
import { addressing, counted, digits, duration, requestNote, shrinkage } from './words.ts'

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
export function createTextLog(write: Write): Listener {
  const tally = new Tally()
  const waiting: RunEvent[] = []
  let hasBegun = false
  return (event) => {
    hasBegun ||= !FRAME.has(event.type)
    waiting.push(event)
    if (event.type === 'run.finished' && !hasBegun && event.exitCode === ExitCode.usage) return
    if (!hasBegun && event.type !== 'run.finished') return
    for (const line of waiting.splice(0).flatMap((each) => [lineOf(each), quarter(tally, each)])) {
      if (line !== undefined) write(`${oneLine(line)}\n`)
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
export function createJsonLog(write: Write, now: () => number): Listener {
  return (event) => {
    write(`${JSON.stringify({ at: new Date(now()).toISOString(), ...event })}\n`)
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
      return `failed ${event.resource} ${event.day} of ${event.orgId}: ${event.error}${requestNote(event.requestId, event.error)}`
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

/** A line each time a further quarter of a resource's many days is done. */
function quarter(tally: Tally, event: RunEvent): string | undefined {
  if (event.type !== 'interval.finished' && event.type !== 'interval.failed') {
    tally.add(event)
    return undefined
  }
  const { resource } = event
  const before = tally.done(resource)
  tally.add(event)
  const [all, done] = [tally.planned(resource), tally.done(resource)]
  const isFurther = Math.floor((4 * done) / all) > Math.floor((4 * before) / all)
  if (all < MANY_DAYS || done > all || !isFurther) return undefined
  return `${resource} ${digits(done)} of ${counted(all, 'day')}`
}

function skewOf(seconds: number): string {
  return seconds === 0
    ? ''
    : ` (its clock is ${digits(Math.abs(seconds))}s ${seconds > 0 ? 'ahead' : 'behind'})`
}

function rowsOf(rows: number | null): string {
  return rows === null ? '' : `, ${counted(rows, 'row')},`
}
