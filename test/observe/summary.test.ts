import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/events.ts'
import { createRedact, redactedEvent } from '../../src/observe/log.ts'
import { renderSummary, verdictOf } from '../../src/observe/summary-text.ts'
import { createSummary, type Summary } from '../../src/observe/summary.ts'
import { clock, failed, finished, night } from './support.ts'

function summaryOf(events: readonly RunEvent[]): Summary {
  const { now, advance } = clock()
  const collector = createSummary(now, '0.1.0')
  const redact = createRedact(['secret-key-1'])
  for (const event of events) {
    collector.listener(redactedEvent(event, redact))
    advance(1000)
  }
  return collector.summary()
}

const started: RunEvent = { type: 'run.started', runId: 'r', command: 'run' }
const known: RunEvent = {
  type: 'organisation.identified',
  orgId: 'org',
  today: '2026-01-16',
  skewSeconds: 0,
}

function planned(days: Readonly<Record<string, number>>): RunEvent {
  const reasons = { missing: 1, failed: 0, recheck: 0, forced: 0 }
  return { type: 'plan.made', orgId: 'org', requests: 1, days, reasons }
}

function landed(count: number): RunEvent[] {
  return Array.from({ length: count }, (_, day) => finished('users', `day ${day}`, 'landed', 10))
}

function failing(count: number): RunEvent[] {
  return Array.from({ length: count }, (_, day) =>
    failed('users', `bad ${day}`, `HTTP ${500 + day}`),
  )
}

function ended(exitCode: number, error?: string): RunEvent {
  const event = { type: 'run.finished', runId: 'r', exitCode } as const
  return error === undefined ? event : { ...event, error }
}

describe('the summary', () => {
  test('counts what a run planned and did', () => {
    const { record, warnings } = summaryOf(night)
    expect(record.resources).toEqual({
      tokens: { asked: 2, landed: 1, empty: 1, unchanged: 0, failed: 0, left: 0, rows: 1 },
      users: { asked: 2, landed: 0, empty: 0, unchanged: 1, failed: 1, left: 0, rows: 120 },
    })
    expect(record).toMatchObject({
      run_id: 'run-1',
      command: 'run',
      organisations: ['org'],
      totals: {
        ...{ requests: 1, retries: 1, bytes: 1500, base_files: 1, models: 1 },
        ...{ checks_passed: 1, checks_warned: 1, checks_failed: 0 },
      },
      failed_checks: [{ check: 'dau_adds_up', severity: 'warn', failures: 2 }],
      published: { path: 'data/warehouse.duckdb', bytes: 12_300_000 },
      exports: [{ target: 'csv', path: 'data/exports/csv', tables: 25, rows: 4321 }],
      warnings: ['the disk is nearly full'],
      exit_code: 3,
      error: null,
    })
    expect(warnings).toMatchObject([{ message: 'the disk is nearly full' }])
    expect(Date.parse(record.finished_at ?? '') - Date.parse(record.started_at)).toBe(19_000)
  })

  test('counts an interval that failed and then landed as landed', () => {
    const { record } = summaryOf([
      planned({ users: 1 }),
      failed('users', 'day 0', 'HTTP 500'),
      ...landed(1),
    ])
    expect(record.resources['users']).toMatchObject({ asked: 1, landed: 1, failed: 0, left: 0 })
    expect(record.failures).toEqual([])
  })

  test('law 11: contains no credential', () => {
    const summary = summaryOf([
      failed('users', 'd', 'refused secret-key-1'),
      { type: 'warning', message: 'odd secret-key-1' },
      ended(1, 'gone: secret-key-1'),
    ])
    expect(JSON.stringify(summary)).not.toContain('secret-key-1')
  })
})

describe('the verdict', () => {
  const published: RunEvent = { type: 'warehouse.published', path: 'w.duckdb', bytes: 1 }
  const check: RunEvent = {
    type: 'check.finished',
    check: 'c',
    severity: 'error',
    failures: 1,
    durationMs: 1,
  }
  const model: RunEvent = { type: 'model.built', model: 'm', rows: 1, durationMs: 1 }
  test.each<[string, string, RunEvent[]]>([
    [
      'complete',
      'Complete: all 5 intervals answered, warehouse published.',
      [known, planned({ users: 5 }), ...landed(5), published, ended(0)],
    ],
    ['complete', 'Complete: no interval was due.', [known, planned({ users: 0 }), ended(0)]],
    [
      'partial',
      'Partial: 3 of 2,488 intervals failed; the next run tries again.',
      [known, planned({ users: 2488 }), ...landed(2485), ...failing(3), published, ended(3)],
    ],
    [
      'partial',
      'Nothing landed: 4 of 4 intervals failed; the next run tries again.',
      [known, planned({ users: 4 }), ...failing(4), ended(3)],
    ],
    [
      'partial',
      'Partial: 1 of 3 intervals were not reached; the next run tries again.',
      [known, planned({ users: 3 }), ...landed(2), ended(0)],
    ],
    [
      'partial',
      'Partial: no organisation could be reached; the next run tries again.',
      [ended(3, 'no organisation could be reached')],
    ],
    [
      'deferred',
      'Deferred: 1 of 10 intervals failed and 7 were not reached (told to wait 2 hours); ' +
        'the next run continues from there.',
      [
        known,
        planned({ users: 10 }),
        ...landed(2),
        ...failing(1),
        ended(4, 'told to wait 2 hours'),
      ],
    ],
    [
      'refused',
      'Refused: 403 Manager role needed; nothing new was published',
      [ended(5, '403 Manager role needed')],
    ],
    [
      'refused',
      "Refused: 'b': 401; what has landed was published",
      [planned({ users: 2 }), ...landed(2), published, ended(5, "'b': 401")],
    ],
    [
      'checks_failed',
      'Not published: 1 of 1 check failed; an earlier warehouse stays in place.',
      [check, ended(6)],
    ],
    ['locked', 'Locked: another run holds the data folder', [ended(7)]],
    ['usage', 'Not run: --from is no date', [ended(2, '--from is no date')]],
    [
      'usage',
      'Not published: teams.csv:1: unknown column',
      [known, planned({ users: 2 }), ...landed(2), ended(2, 'teams.csv:1: unknown column')],
    ],
    ['usage', 'Not published: teams.csv:2: empty', [model, ended(2, 'teams.csv:2: empty')]],
    [
      'usage',
      "Partial: 'b': another's key; the rest was published",
      [planned({ users: 2 }), ...landed(2), published, ended(2, "'b': another's key")],
    ],
    ['failed', 'Failed: boom', [ended(1, 'boom')]],
    ['failed', 'Failed: an unexpected error ended the run', [ended(99)]],
    ['running', 'In progress: 2 of 5 intervals done.', [planned({ users: 5 }), ...landed(2)]],
  ])('%s: %s', (status, verdict, events) => {
    const summary = summaryOf([started, ...events])
    expect(summary.record.status).toBe(status)
    expect(verdictOf(summary)).toBe(verdict)
  })
})

describe('the closing text', () => {
  test('lists requests, landed, empty and failed days, builds, the publication and the duration', () => {
    expect(renderSummary(summaryOf(night)).split('\n')).toEqual([
      'Partial: 1 of 4 intervals failed; the next run tries again.',
      '',
      'fetched    1 request, 1 retried, 1.5 kB read',
      '                   days  landed  empty  unchanged  failed  left  rows',
      '           tokens     2       1      1          0       0     0     1',
      '           users      2       0      0          1       1     0   120',
      '           all        4       1      1          1       1     0   121',
      'failed     users 2026-01-15 of org: HTTP 500 Internal error (request req-9)',
      'built      1 base file, 1 model, 2 checks (1 passed, 1 warned, 0 failed)',
      'checks     warned: dau_adds_up, 2 rows',
      'published  data/warehouse.duckdb (12 MB)',
      'exported   csv: 25 tables, 4,321 rows in data/exports/csv',
      'warnings   the disk is nearly full',
      'took       19.0s (sync 5.0s, build 900ms)',
      '',
    ])
  })

  test('says in one line which days of a resource failed in the same way', () => {
    const refused = (day: string, id: string) => ({
      ...failed('tools', day, `/tools?startDate=${day}: 400 (request ${id})`),
      requestId: id,
    })
    const text = renderSummary(
      summaryOf([
        planned({ tools: 4 }),
        refused('2026-02-03', 'req-1'),
        refused('2026-01-22', 'req-2'),
        refused('2026-02-01', 'req-3'),
        failed('tools', '2026-02-02', '/tools?startDate=2026-02-02: 500'),
        ended(3),
      ]),
    )
    expect(text).toContain(
      [
        'failed     tools 2026-01-22 and 2 more days through 2026-02-03 of org: /tools?startDate=2026-01-22: 400 (request req-2)',
        '           tools 2026-02-02 of org: /tools?startDate=2026-02-02: 500',
      ].join('\n'),
    )
  })

  test('says in one line which intervals of any resource and organisation failed in the same way', () => {
    const of = (orgId: string, resource: string, day: string, error: string): RunEvent => {
      return { type: 'interval.failed', orgId, resource, day, error, requestId: null }
    }
    const text = renderSummary(
      summaryOf([
        planned({ tools: 1, users: 1, computers: 2 }),
        of('a', 'tools', '2026-02-03', '/activity: 401 (request req-1)'),
        of('a', 'users', '2026-02-02', '/activity: 401 (request req-1)'),
        of('b', 'computers', '2026-02-04', '/computers: 500 (request req-2)'),
        of('c', 'computers', '2026-02-04', '/computers: 500 (request req-3)'),
        ended(3),
      ]),
    )
    expect(text).toContain(
      [
        'failed     users 2026-02-02 of a and 1 more interval: /activity: 401 (request req-1)',
        '           computers 2026-02-04 of b and 1 more interval of 2 organisations: /computers: 500 (request req-2)',
      ].join('\n'),
    )
  })

  test('says in one line which organisations failed in the same way', () => {
    const failing = (name: string, error: string): RunEvent => {
      return { type: 'organisation.failed', name, orgId: null, error, exitCode: 3 }
    }
    const text = renderSummary(
      summaryOf([
        failing('one', '/activity: 500 (request req-1)'),
        failing('two', 'stopped'),
        ...['three', 'four', 'five', 'six'].map((name, at) =>
          failing(name, `/activity: 500 (request req-${at})`),
        ),
        ended(3),
      ]),
    )
    expect(text).toContain(
      [
        'fleet      6 organisations failed',
        "           'one', 'three', 'four', 'five', 'six': /activity: 500 (request req-1)",
        "           'two': stopped",
      ].join('\n'),
    )
  })

  test('lists the first ten failures and counts the others', () => {
    const text = renderSummary(summaryOf([planned({ users: 12 }), ...failing(12), ended(3)]))
    expect(text.match(/users bad \d+ of org/g)).toHaveLength(10)
    expect(text).toContain('and 2 more in the run record')
  })

  const warned = (message: string, about?: 'lease' | 'drift', kind?: string): RunEvent => ({
    type: 'warning',
    message,
    ...(about === undefined ? {} : { about }),
    ...(kind === undefined ? {} : { kind }),
  })

  function warningsIn(events: readonly RunEvent[]): string[] {
    const lines = renderSummary(summaryOf(events)).split('\n')
    const first = lines.findIndex((line) => line.startsWith('warnings'))
    return lines
      .slice(first, lines.indexOf('', first))
      .map((line) => line.slice('warnings   '.length))
  }

  test('shows a warning of each kind, the most severe first, whatever their order and number', () => {
    const drift = Array.from({ length: 20 }, (_, n) =>
      warned(`$.field_${n} is new`, 'drift', 'new'),
    )
    const files = Array.from({ length: 20 }, (_, n) => warned(`lake/raw/${n}.parquet is gone`))
    const events = [
      ...drift,
      warned('$.count is NULL', 'drift', 'overflow'),
      ...files,
      warned("the clock of 'x' is wrong"),
      warned('run run-1 was taken over', 'lease'),
    ]
    expect(warningsIn(events)).toEqual([
      'run run-1 was taken over',
      ...[0, 1, 2, 3, 4, 5].map((n) => `lake/raw/${n}.parquet is gone`),
      "the clock of 'x' is wrong",
      '$.field_0 is new',
      '$.count is NULL',
      'and 33 more in the run record',
    ])
  })

  test('shows more than ten warnings of more kinds, and at most thirty', () => {
    const kinds = (count: number) =>
      Array.from({ length: count }, (_, n) => warned('x', 'drift', `kind ${n}`))
    expect(warningsIn(kinds(12))).toHaveLength(12)
    expect(warningsIn(kinds(50)).at(-1)).toBe('and 20 more in the run record')
  })

  test('shows a failed check before ten that only warn', () => {
    const check = (name: string, severity: 'error' | 'warn'): RunEvent => ({
      type: 'check.finished',
      check: name,
      severity,
      failures: 1,
      durationMs: 1,
    })
    const warns = Array.from({ length: 12 }, (_, n) => check(`check_${n}`, 'warn'))
    const text = renderSummary(summaryOf([...warns, check('last', 'error')]))
    expect(text).toContain('checks     failed: last, 1 row')
  })

  test('is short for a run that did nothing', () => {
    const text = renderSummary(summaryOf([started, ended(7)]))
    expect(text).toBe('Locked: another run holds the data folder\n\ntook       1.0s\n')
  })
})
