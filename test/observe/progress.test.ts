import { describe, expect, test } from 'vitest'
import { createProgress, type Progress } from '../../src/observe/progress.ts'
import { createRedact, redactedEvent } from '../../src/observe/log.ts'
import { clock, failed, finished } from './support.ts'

interface Screen {
  readonly progress: Progress
  readonly advance: (ms: number) => void
  /** Everything that was written, with escape sequences. */
  readonly written: string[]
  /** The lines that a terminal would show. */
  readonly shown: () => string[]
}

function screen(columns = 100, colour = false): Screen {
  const { now, advance } = clock()
  const written: string[] = []
  const progress = createProgress({
    write: (text) => written.push(text),
    now,
    columns: () => columns,
    colour,
  })
  return { progress, advance, written, shown: () => terminal(written) }
}

/** Executes the two sequences that the view uses: up so many lines, and clear from here down. */
function terminal(written: readonly string[]): string[] {
  let lines: string[] = []
  for (const text of written) {
    const [, up, rest = ''] = /^(?:\u001b\[(\d+)A\r\u001b\[0J)?([\s\S]*)$/.exec(text) ?? []
    lines = lines.slice(0, lines.length - Number(up ?? 0))
    lines.push(...rest.split('\n').slice(0, -1))
  }
  return lines
}

const reasons = { missing: 1, failed: 0, recheck: 0, forced: 0 }
const plan = {
  type: 'plan.made',
  orgId: 'org',
  requests: 9,
  days: { tokens: 2, users: 311, tools: 0 },
  reasons,
} as const

describe('progress', () => {
  test('shows days, rows, rows per second, time left and failures of each resource', () => {
    const { progress, advance, shown } = screen()
    progress.listener(plan)
    expect(shown()).toEqual(['tokens    0/2 days  0 rows', 'users   0/311 days  0 rows'])
    advance(10_000)
    progress.listener(finished('tokens', '2026-01-14', 'landed', 1))
    progress.listener(finished('tokens', '2026-01-15', 'empty', 0))
    for (let day = 0; day < 10; day += 1) {
      progress.listener(finished('users', `day ${day}`, 'landed', 1200))
    }
    progress.listener(failed('users', 'day 10', 'HTTP 500'))
    advance(10_000)
    progress.listener({
      type: 'page.received',
      orgId: 'org',
      resource: 'users',
      day: 'd',
      rows: 100,
    })
    expect(shown()).toEqual([
      'tokens     2/2 days        1 row    0 rows/s         done',
      'users   11/311 days  12,100 rows  605 rows/s  9m 05s left  1 failed',
    ])
  })

  test('counts the pages of an unfinished day until the day is finished', () => {
    const { progress, advance, shown } = screen()
    progress.listener(plan)
    for (const rows of [100, 100, 37]) {
      progress.listener({ type: 'page.received', orgId: 'org', resource: 'users', day: 'd', rows })
    }
    advance(1000)
    progress.listener({ type: 'stage.finished', stage: 'x', durationMs: 1 })
    expect(shown()[1]).toContain(' 237 rows')
    advance(1000)
    progress.listener(finished('users', 'd', 'landed', 236))
    expect(shown()[1]).toContain(' 236 rows')
  })

  test('draws at most ten times a second', () => {
    const { progress, advance, written } = screen()
    progress.listener(plan)
    for (let at = 0; at < 1000; at += 1) {
      advance(1)
      progress.listener({
        type: 'page.received',
        orgId: 'org',
        resource: 'users',
        day: 'd',
        rows: 1,
      })
    }
    expect(written.length).toBe(11)
  })

  test('prints a warning above itself at once, on one line and without the credential', () => {
    const { progress, shown } = screen()
    progress.listener(plan)
    const message = 'odd\nresponse to secret-key-1'
    progress.listener(redactedEvent({ type: 'warning', message }, createRedact(['secret-key-1'])))
    expect(shown()).toEqual([
      'warning odd response to [redacted]',
      'tokens    0/2 days  0 rows',
      'users   0/311 days  0 rows',
    ])
  })

  test('shows the reason of a wait, and then what is built', () => {
    const { progress, advance, shown } = screen()
    progress.listener(plan)
    advance(500)
    progress.listener({ type: 'governor.paused', waitMs: 12_000, reason: 'Retry-After' })
    expect(shown().at(-1)).toBe('waiting 12.0s: Retry-After')
    advance(12_500)
    progress.listener({ type: 'model.built', model: 'm', rows: 1, durationMs: 1 })
    expect(shown().at(-1)).toBe('1 model built, 0 checks run')
  })

  test('leaves only the warnings when it stops', () => {
    const { progress, shown } = screen()
    progress.listener(plan)
    progress.listener({ type: 'warning', message: 'mind this' })
    progress.stop()
    progress.stop()
    expect(shown()).toEqual(['warning mind this'])
  })

  test('keeps each line narrower than the terminal, even a narrow one with colours', () => {
    const { progress, advance, written } = screen(40, true)
    progress.listener(plan)
    progress.listener(failed('users', 'd', 'HTTP 500'))
    advance(5000)
    progress.listener({ type: 'governor.paused', waitMs: 9000, reason: 'x'.repeat(200) })
    const bare = written.map((text) => text.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, ''))
    const widths = bare.flatMap((text) => text.split('\n')).map((line) => line.length)
    expect(Math.max(...widths)).toBeLessThan(40)
  })

  test('uses colours only where they are allowed', () => {
    const events = [plan, failed('users', 'd', 'HTTP 500')]
    const [plain, coloured] = [false, true].map((colour) => {
      const { progress, advance, written } = screen(100, colour)
      for (const event of events) {
        progress.listener(event)
        advance(1000)
      }
      return written.join('')
    })
    expect(plain).not.toContain('\u001b[3')
    expect(coloured).toContain('\u001b[31m  1 failed')
  })
})
