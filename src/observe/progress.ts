import pc from 'picocolors'
import type { RunEvent } from '../lib/events.ts'
import type { Listener, Write } from './log.ts'
import { createRedact, type Redact } from './redact.ts'
import { addressing, counted, digits, duration, oneLine, shrinkage } from './words.ts'

export interface ProgressOptions {
  /** Writes to the terminal. */
  readonly write: Write
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The terminal's width at this moment: a line never wraps, or it could not be drawn over. */
  readonly columns: () => number
  /** False where NO_COLOR is set. */
  readonly colour: boolean
  readonly redact?: Redact
}

export interface Progress {
  readonly listener: Listener
  /** Takes the live lines away and leaves the cursor where they began. */
  readonly stop: () => void
}

/** What is known of one resource, over every organisation. */
interface Track {
  due: number
  done: number
  failed: number
  /** Of finished days. */
  rows: number
  readonly startedAt: number
  finishedAt: number | undefined
  /** Rows of days under way, by organisation and day. */
  readonly underWay: Map<string, number>
}

const REDRAW_EVERY_MS = 100

/**
 * A live view for a terminal: one line per resource with its days, rows, rows a
 * second, time left and failures, and one line for what the run does beside
 * that. Drawn when an event comes, at most ten times a second. Warnings are
 * printed above it and stay.
 */
export function createProgress(options: ProgressOptions): Progress {
  const { write, now, columns, redact = createRedact([]) } = options
  const colours = pc.createColors(options.colour)
  const state = createState()
  let drawn = 0
  let drawnAt = Number.NEGATIVE_INFINITY

  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\r\u001b[0J`)
  const draw = (above: string): void => {
    const lines = linesOf(state, now(), Math.max(20, columns() - 1), colours)
    write(erase() + above + lines.map((line) => `${line}\n`).join(''))
    drawn = lines.length
    drawnAt = now()
  }
  return {
    listener: (event) => {
      record(state, event, now())
      const warning = warningOf(event)
      if (event.type === 'organisation.addressed') {
        draw(`${oneLine(redact(addressing(event)))}\n`)
      } else if (warning !== undefined) {
        draw(`${colours.yellow('warning')} ${oneLine(redact(warning))}\n`)
      } else if (now() - drawnAt >= REDRAW_EVERY_MS) draw('')
    },
    stop: () => {
      if (drawn > 0) write(erase())
      drawn = 0
    },
  }
}

function warningOf(event: RunEvent): string | undefined {
  if (event.type === 'interval.shrunk') return shrinkage(event)
  return event.type === 'warning' ? event.message : undefined
}

interface State {
  readonly tracks: Map<string, Track>
  models: number
  checks: number
  pause: { readonly until: number; readonly reason: string } | undefined
}

function createState(): State {
  return { tracks: new Map(), models: 0, checks: 0, pause: undefined }
}

function record(state: State, event: RunEvent, now: number): void {
  if (event.type === 'plan.made') {
    for (const [resource, days] of Object.entries(event.days)) {
      if (days > 0) trackOf(state, resource, now).due += days
    }
  } else if (event.type === 'page.landed') {
    const { underWay } = trackOf(state, event.resource, now)
    const key = intervalKey(event)
    underWay.set(key, (underWay.get(key) ?? 0) + event.rows)
  } else if (event.type === 'interval.finished') {
    finish(trackOf(state, event.resource, now), event, event.rows, now)
  } else if (event.type === 'interval.failed') {
    const track = trackOf(state, event.resource, now)
    track.failed += 1
    finish(track, event, 0, now)
  } else if (event.type === 'governor.paused') {
    state.pause = { until: now + event.waitMs, reason: event.reason }
  } else if (event.type === 'model.built') {
    state.models += 1
  } else if (event.type === 'check.finished') {
    state.checks += 1
  }
}

function trackOf(state: State, resource: string, now: number): Track {
  const known = state.tracks.get(resource)
  if (known !== undefined) return known
  const track: Track = {
    due: 0,
    done: 0,
    failed: 0,
    rows: 0,
    startedAt: now,
    finishedAt: undefined,
    underWay: new Map(),
  }
  state.tracks.set(resource, track)
  return track
}

function finish(track: Track, interval: OrgDay, rows: number, now: number): void {
  track.underWay.delete(intervalKey(interval))
  track.rows += rows
  track.done += 1
  track.finishedAt = track.done >= track.due ? now : undefined
}

interface OrgDay {
  readonly orgId: string
  readonly day: string
}

function intervalKey({ orgId, day }: OrgDay): string {
  return `${orgId} ${day}`
}

type Colours = ReturnType<typeof pc.createColors>

function linesOf(state: State, now: number, width: number, colours: Colours): string[] {
  const rows = [...state.tracks].map(([resource, track]) => cellsOf(resource, track, now))
  const widths = [0, 1, 2, 3, 4].map((at) =>
    rows.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), 0),
  )
  const lines = rows.map(([name = '', ...numbers]) => {
    const failed = numbers.pop() ?? ''
    const padded = numbers.map((cell, at) => cell.padStart(widths[at + 1] ?? 0))
    const plain = [name.padEnd(widths[0] ?? 0), ...padded].join('  ')
    return fitted(plain, failed === '' ? '' : `  ${failed}`, width, colours.red)
  })
  const note = noteOf(state, now)
  return note === undefined ? lines : [...lines, fitted('', note, width, colours.dim)]
}

/** Name, days, rows, rows a second, time left, failures. */
function cellsOf(resource: string, track: Track, now: number): string[] {
  const elapsed = (track.finishedAt ?? now) - track.startedAt
  const rows = [...track.underWay.values()].reduce((sum, count) => sum + count, track.rows)
  return [
    oneLine(resource),
    `${digits(track.done)}/${digits(Math.max(track.due, track.done))} days`,
    counted(rows, 'row'),
    elapsed > 0 ? `${digits((rows * 1000) / elapsed)} rows/s` : '',
    timeLeft(track, elapsed),
    track.failed === 0 ? '' : `${digits(track.failed)} failed`,
  ]
}

/** As long for each day to come as for each day done. */
function timeLeft(track: Track, elapsed: number): string {
  if (track.finishedAt !== undefined) return 'done'
  if (track.done === 0) return ''
  return `${duration(((track.due - track.done) * elapsed) / track.done)} left`
}

function noteOf(state: State, now: number): string | undefined {
  if (state.pause !== undefined && state.pause.until > now) {
    return `waiting ${duration(state.pause.until - now)}: ${oneLine(state.pause.reason)}`
  }
  if (state.models + state.checks === 0) return undefined
  return `${counted(state.models, 'model')} built, ${counted(state.checks, 'check')} run`
}

/** Cut to the width before it is coloured, so that no escape sequence is cut. */
function fitted(
  plain: string,
  marked: string,
  width: number,
  mark: (text: string) => string,
): string {
  const room = Math.max(0, width - plain.length)
  const cut = marked.slice(0, room)
  return cut === '' ? plain.trimEnd().slice(0, width) : plain + mark(cut)
}
