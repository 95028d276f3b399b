import pc from 'picocolors'
import type { RunEvent } from '../lib/events.ts'
import { oneLine, counted, digits } from '../lib/text.ts'
import type { Write } from './log.ts'
import { Tally } from './summary.ts'
import { addressing, aligned, duration, shrinkage } from './words.ts'

interface ProgressOptions {
  readonly write: Write
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The current width of the terminal: a line must not wrap, so that it can be drawn over. */
  readonly columns: () => number
  /** False if NO_COLOR is set. */
  readonly colour: boolean
}

export type Progress = ReturnType<typeof createProgress>

const REDRAW_EVERY_MS = 100

/**
 * A live view for a terminal: one line per resource with its days, rows, rows a
 * second, time left and failures, and one line for other work of the run. It is drawn
 * when an event comes, at most ten times a second. Warnings are printed above it and stay.
 */
export function createProgress({ write, now, columns, colour }: ProgressOptions) {
  const colours = pc.createColors(colour)
  const state = new State()
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
    listener: (event: RunEvent): void => {
      state.add(event, now())
      const warning = warningOf(event)
      if (event.type === 'organisation.addressed') draw(`${oneLine(addressing(event))}\n`)
      else if (warning !== undefined) draw(`${colours.yellow('warning')} ${oneLine(warning)}\n`)
      else if (now() - drawnAt >= REDRAW_EVERY_MS) draw('')
    },
    stop: (): void => {
      if (drawn > 0) write(erase())
      drawn = 0
    },
  }
}

function warningOf(event: RunEvent): string | undefined {
  if (event.type === 'interval.shrunk') return shrinkage(event)
  return event.type === 'warning' ? event.message : undefined
}

/** When a resource began and ended, and the rows of its unfinished days, by organisation and day. */
interface Track {
  readonly startedAt: number
  finishedAt: number | undefined
  readonly underWay: Map<string, number>
}

class State {
  readonly tally = new Tally()
  readonly tracks = new Map<string, Track>()
  models = 0
  checks = 0
  pause: { readonly until: number; readonly reason: string } | undefined

  add(event: RunEvent, now: number): void {
    this.tally.add(event)
    if (event.type === 'plan.made') {
      for (const [resource, days] of Object.entries(event.days)) {
        if (days > 0) this.#track(resource, now).finishedAt = undefined
      }
    } else if (event.type === 'page.received') {
      const { underWay } = this.#track(event.resource, now)
      const day = `${event.orgId} ${event.day}`
      underWay.set(day, (underWay.get(day) ?? 0) + event.rows)
    } else if (event.type === 'interval.finished' || event.type === 'interval.failed') {
      const { resource, orgId, day } = event
      const track = this.#track(resource, now)
      track.underWay.delete(`${orgId} ${day}`)
      const { done, planned } = this.tally.of(resource)
      track.finishedAt = done >= planned ? now : undefined
    } else if (event.type === 'governor.paused') {
      this.pause = { until: now + event.waitMs, reason: event.reason }
    } else if (event.type === 'model.built') this.models += 1
    else if (event.type === 'check.finished') this.checks += 1
  }

  #track(resource: string, now: number): Track {
    const known = this.tracks.get(resource)
    const track = known ?? { startedAt: now, finishedAt: undefined, underWay: new Map() }
    this.tracks.set(resource, track)
    return track
  }
}

type Colours = ReturnType<typeof pc.createColors>

function linesOf(state: State, now: number, width: number, colours: Colours): string[] {
  const tracks = [...state.tracks]
  const plain = aligned(tracks.map(([resource, track]) => cellsOf(state, resource, track, now)))
  const lines = tracks.map(([resource], at) => {
    const { failed } = state.tally.of(resource).days()
    const failures = failed === 0 ? '' : `  ${digits(failed)} failed`
    return fitted(plain[at] ?? '', failures, width, colours.red)
  })
  const note = noteOf(state, now)
  return note === undefined ? lines : [...lines, fitted('', note, width, colours.dim)]
}

function cellsOf({ tally }: State, resource: string, track: Track, now: number): string[] {
  const { asked, left, rows: finished } = tally.of(resource).days()
  const { startedAt, finishedAt, underWay } = track
  const elapsed = (finishedAt ?? now) - startedAt
  const rows = [...underWay.values()].reduce((sum, count) => sum + count, finished)
  const done = asked - left
  const timeLeft = done === 0 ? '' : `${duration((left * elapsed) / done)} left`
  return [
    oneLine(resource),
    `${digits(done)}/${digits(asked)} days`,
    counted(rows, 'row'),
    elapsed > 0 ? `${digits((rows * 1000) / elapsed)} rows/s` : '',
    finishedAt === undefined ? timeLeft : 'done',
  ]
}

function noteOf({ pause, models, checks }: State, now: number): string | undefined {
  if (pause !== undefined && pause.until > now) {
    return `waiting ${duration(pause.until - now)}: ${oneLine(pause.reason)}`
  }
  if (models + checks === 0) return undefined
  return `${counted(models, 'model')} built, ${counted(checks, 'check')} run`
}

/** Cuts the text before colouring it, so that no escape sequence is cut. */
function fitted(
  plain: string,
  marked: string,
  width: number,
  mark: (text: string) => string,
): string {
  const cut = marked.slice(0, Math.max(0, width - plain.length))
  return cut === '' ? plain.trimEnd().slice(0, width) : plain + mark(cut)
}
