import { ExitCode } from '../lib/errors.ts'
import { handle, type EventOf, type Handlers, type RunEvent } from '../lib/events.ts'
import { oneLine, size, counted, digits } from '../lib/text.ts'
import { Tally, type Listener } from './summary.ts'
import { addressing, duration, requestNote, shrinkage } from './words.ts'
import { KnownSecrets, REDACTED } from '../lib/secrets/known-secrets.ts'
import { withoutKnownForms } from '../lib/secrets/secret-forms.ts'

export type Write = (text: string) => void

/** A faster model has no line, because there are dozens. */
const SLOW_MODEL_MS = 5_000

/** Fewer days have no progress lines: a night has a few days for each resource. */
const MANY_DAYS = 40

/** An outage fails hundreds of intervals of an organisation, usually for one reason. */
const FAILED_LINES = 10

/**
 * One plain line for each event that people want in a nightly log. Requests, pages, base
 * files, fast models and passed checks have none; a backfill has a line for each quarter of a
 * resource's days, and an organisation has a line for each of the first failed intervals.
 */
export function createTextLog(write: Write): Listener {
  const tally = new Tally()
  const failed = new Map<string, number>()
  const waiting: RunEvent[] = []
  let hasBegun = false
  let isFleet = false
  return (event) => {
    isFleet ||= event.type === 'organisation.addressed' && event.others !== undefined
    if (isFleet && isOfAnIdleOne(event)) return
    hasBegun ||= !FRAME.has(event.type)
    waiting.push(event)
    if (event.type === 'run.finished' && !hasBegun && event.exitCode === ExitCode.usage) return
    if (!hasBegun && event.type !== 'run.finished') return
    for (const line of waiting
      .splice(0)
      .flatMap((each) => [
        ...furtherFailures(failed, each),
        lineOf(failed, each),
        quarter(tally, each),
      ])) {
      if (line !== undefined) write(`${oneLine(line)}\n`)
    }
  }
}

/** Counts the failed intervals of each organisation, of which only the first have a line. */
function lineOf(failed: Map<string, number>, event: RunEvent): string | undefined {
  if (event.type === 'interval.failed') {
    const count = (failed.get(event.orgId) ?? 0) + 1
    failed.set(event.orgId, count)
    if (count > FAILED_LINES) return undefined
  }
  return handle(LINES, event)
}

/** At the end of a stage, how many failed intervals had no line. */
function furtherFailures(failed: Map<string, number>, event: RunEvent): string[] {
  if (event.type !== 'stage.finished') return []
  const more = [...failed].filter(([, count]) => count > FAILED_LINES)
  failed.clear()
  return more.map(
    ([orgId, count]) =>
      `and ${digits(count - FAILED_LINES)} more failed intervals of ${orgId} in the run record`,
  )
}

function isOfAnIdleOne(event: RunEvent): boolean {
  return (
    event.type === 'organisation.identified' || (event.type === 'plan.made' && event.requests === 0)
  )
}

/**
 * The events of every run. A run that is refused (2) without other events has no lines,
 * because its error says everything.
 */
const FRAME: ReadonlySet<RunEvent['type']> = new Set([
  'run.started',
  'stage.finished',
  'run.finished',
])

/** Every event as a line of JSON: `at` (ISO 8601, UTC), then the members of the event. */
export function createJsonLog(write: Write, now: () => number): Listener {
  return (event) => {
    write(`${JSON.stringify({ at: new Date(now()).toISOString(), ...event })}\n`)
  }
}

const LINES: Handlers<[], string | undefined> = {
  'run.started': ({ command, runId }) => `${command} started, run ${runId}`,
  'organisation.addressed': addressing,
  'organisation.identified': ({ orgId, today, skewSeconds }) =>
    `organisation ${orgId}; today is ${today} there${skewOf(skewSeconds)}`,
  'organisation.failed': ({ name, error }) => `failed '${name}': ${error}`,
  'plan.made': planLine,
  'request.retried': ({ waitMs, attempt, reason }) =>
    `retry in ${duration(waitMs)} after attempt ${attempt}: ${reason}`,
  'governor.paused': ({ waitMs, reason }) => `waiting ${duration(waitMs)}: ${reason}`,
  'pagination.resumed': ({ resource, day, orgId, pages }) =>
    `${resource} ${day} of ${orgId} continues after page ${digits(pages)}`,
  'interval.shrunk': (event) => `shrunk: ${shrinkage(event)}`,
  'interval.failed': ({ resource, day, orgId, error, requestId }) =>
    `failed ${resource} ${day} of ${orgId}: ${error}${requestNote(requestId, error)}`,
  'lake.merged': ({ resource, month, orgId, files, bytes }) =>
    `merged ${digits(files)} files of ${resource} ${month} of ${orgId} into one (${size(bytes)})`,
  'model.built': ({ model, rows, durationMs }) => {
    const rowsText = rows === null ? '' : `, ${counted(rows, 'row')},`
    const line = `built ${model}${rowsText} in ${duration(durationMs)}`
    return durationMs < SLOW_MODEL_MS ? undefined : line
  },
  'model.refreshed': ({ model, reason }) => `full refresh of ${model}: ${reason}`,
  'check.finished': ({ check, severity, failures }) => {
    const verdict = severity === 'error' ? 'failed' : 'warned'
    return failures === 0 ? undefined : `check ${check} ${verdict}: ${counted(failures, 'row')}`
  },
  'warehouse.published': ({ path, bytes }) => `published ${path} (${size(bytes)})`,
  'warehouse.unchanged': ({ path }) => `nothing changed: ${path} stays published`,
  'warehouse.rolled_back': ({ to }) => `rolled back to the file of run ${to}`,
  'export.finished': ({ tables, rows, path }) =>
    `exported ${counted(tables, 'table')}, ${counted(rows, 'row')} to ${path}`,
  'report.finished': ({ path, bytes }) => `report written to ${path} (${size(bytes)})`,
  warning: ({ message }) => `warning: ${message}`,
  'stage.finished': ({ stage, durationMs }) => `${stage} took ${duration(durationMs)}`,
  'run.finished': ({ runId, exitCode }) => `run ${runId} finished with exit code ${exitCode}`,
}

function planLine({ orgId, requests, days, reasons }: EventOf<'plan.made'>): string {
  const due = Object.entries(days).filter(([, count]) => count > 0)
  if (due.length === 0) return `plan for ${orgId}: no analytics days are due`
  const dueDays = due.map(([resource, count]) => `${resource} ${digits(count)}`).join(', ')
  const why = Object.entries(reasons).filter(([, count]) => count > 0)
  const whyText = why.map(([name, count]) => `${digits(count)} ${name}`).join(', ')
  return `plan for ${orgId}: at least ${counted(requests, 'request')}; days due: ${dueDays} (${whyText})`
}

function skewOf(seconds: number): string {
  if (seconds === 0) return ''
  const skew = duration(Math.abs(seconds) * 1000)
  return ` (its clock is ${skew} ${seconds > 0 ? 'ahead' : 'behind'})`
}

function quarter(tally: Tally, event: RunEvent): string | undefined {
  const before = 'resource' in event ? tally.of(event.resource).done : 0
  tally.add(event)
  if (event.type !== 'interval.finished' && event.type !== 'interval.failed') return undefined
  const { resource } = event
  const { planned: all, done } = tally.of(resource)
  const isFurther = Math.floor((4 * done) / all) > Math.floor((4 * before) / all)
  if (all < MANY_DAYS || done > all || !isFurther) return undefined
  return `${resource} ${digits(done)} of ${counted(all, 'day')}`
}

/** Removes the given credentials in any spelling, and everything with the form of a key or a token. */
export function createRedact(secrets: readonly string[]) {
  const known = new KnownSecrets(secrets)
  return (text: string): string => withoutKnownForms(known.text(text), () => REDACTED)
}

/** The event without secrets in any of its texts. */
export function redactedEvent(event: RunEvent, redact: (text: string) => string): RunEvent {
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean)
    return typeof value === 'string' ? redact(value) : value
  }
  const members = Object.entries(event).map(([name, value]) => [name, clean(value)] as const)
  return Object.assign({ ...event }, Object.fromEntries(members), { type: event.type })
}
