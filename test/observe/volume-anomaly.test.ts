import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/events.ts'
import { createTextLog } from '../../src/observe/log.ts'
import { createProgress } from '../../src/observe/progress.ts'
import { createSummary, type Summary } from '../../src/observe/summary.ts'
import { renderSummary, verdictOf } from '../../src/observe/summary-text.ts'
import { clock, finished } from './support.ts'

function shrunk(day: string, size: number, isConfirmed: boolean): RunEvent {
  const of = { orgId: 'org', resource: 'users', day } as const
  return { type: 'interval.shrunk', ...of, sizeBefore: 1512, size, isConfirmed }
}

const PENDING =
  'users 2026-03-01 of org came back with 0 instead of 1,512: the earlier data is kept until a second recheck confirms the change'
const CONFIRMED =
  'users 2026-03-02 of org came back with 3 instead of 1,512, confirmed by a second recheck, so it is used'

const night: readonly RunEvent[] = [
  { type: 'run.started', runId: 'r', command: 'run' },
  finished('users', '2026-03-01', 'unchanged', 1512),
  shrunk('2026-03-01', 0, false),
  finished('users', '2026-03-02', 'landed', 3),
  shrunk('2026-03-02', 3, true),
  { type: 'run.finished', runId: 'r', exitCode: 0 },
]

function summaryOf(events: readonly RunEvent[]): Summary {
  const { listener, summary } = createSummary(clock().now, '0.1.0')
  events.forEach(listener)
  return summary()
}

test('a volume anomaly has a line in the log', () => {
  const lines: string[] = []
  night.forEach(createTextLog((text) => lines.push(text)))
  expect(lines).toContain(`shrunk: ${PENDING}\n`)
  expect(lines).toContain(`shrunk: ${CONFIRMED}\n`)
})

test('a volume anomaly is printed above the progress, as a warning is', () => {
  let text = ''
  const { listener } = createProgress({
    write: (more) => (text += more),
    now: clock().now,
    columns: () => 200,
    colour: false,
  })
  night.forEach(listener)
  expect(text).toContain(`warning ${PENDING}\n`)
})

test('a volume anomaly is in the closing text, and a pending one in the verdict', () => {
  const summary = summaryOf(night)
  const lines = renderSummary(summary).split('\n')
  expect(lines).toContain(`shrunk     ${PENDING}`)
  expect(lines).toContain(`           ${CONFIRMED}`)
  expect(verdictOf(summary)).toBe(
    'Complete: all 2 intervals answered (1 to be confirmed by a second recheck).',
  )
  expect(summary.record.resources['users']).toMatchObject({ landed: 1, unchanged: 1, left: 0 })
})

test('a volume anomaly is in the run record', () => {
  expect(summaryOf(night).record.shrunk).toEqual([
    {
      org_id: 'org',
      resource: 'users',
      day: '2026-03-01',
      size_before: 1512,
      size: 0,
      is_confirmed: false,
    },
    {
      org_id: 'org',
      resource: 'users',
      day: '2026-03-02',
      size_before: 1512,
      size: 3,
      is_confirmed: true,
    },
  ])
})
