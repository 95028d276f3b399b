import type { RunEvent } from '../../src/lib/events.ts'

/** A night with three resources, one failure, one warning and one check that warns. */
export const night: readonly RunEvent[] = [
  { type: 'run.started', runId: 'run-1', command: 'run' },
  { type: 'organisation.identified', orgId: 'org', today: '2026-01-16', skewSeconds: 0 },
  {
    type: 'plan.made',
    orgId: 'org',
    requests: 3,
    days: { tokens: 2, users: 2, tools: 0 },
    reasons: { missing: 3, failed: 0, recheck: 1, forced: 0 },
  },
  {
    type: 'request.finished',
    path: '/tokens',
    status: 200,
    durationMs: 40,
    bytes: 1500,
    requestId: 'req-1',
  },
  { type: 'request.retried', path: '/users', attempt: 1, reason: 'GET /users: 503', waitMs: 2000 },
  { type: 'page.received', orgId: 'org', resource: 'users', day: '2026-01-14', rows: 100 },
  finished('tokens', '2026-01-14', 'landed', 1),
  finished('tokens', '2026-01-15', 'empty', 0),
  finished('users', '2026-01-14', 'unchanged', 120),
  failed('users', '2026-01-15', 'HTTP 500 Internal error', 'req-9'),
  { type: 'base.written', orgId: 'org', entity: 'users', month: '2026-01', rows: 120 },
  { type: 'stage.finished', stage: 'sync', durationMs: 5000 },
  { type: 'model.built', model: 'fct_user_day', rows: 120, durationMs: 30 },
  { type: 'check.finished', check: 'unique_day', severity: 'error', failures: 0, durationMs: 3 },
  { type: 'check.finished', check: 'dau_adds_up', severity: 'warn', failures: 2, durationMs: 3 },
  { type: 'warehouse.published', path: 'data/warehouse.duckdb', bytes: 12_300_000 },
  { type: 'warning', message: 'the disk is nearly full' },
  { type: 'export.finished', target: 'csv', path: 'data/exports/csv', tables: 25, rows: 4321 },
  { type: 'stage.finished', stage: 'build', durationMs: 900 },
  { type: 'run.finished', runId: 'run-1', exitCode: 3 },
]

export function finished(
  resource: string,
  day: string,
  outcome: 'landed' | 'empty' | 'unchanged',
  rows: number,
): RunEvent {
  return { type: 'interval.finished', orgId: 'org', resource, day, outcome, rows }
}

export function failed(
  resource: string,
  day: string,
  error: string,
  requestId: string | null = null,
): RunEvent {
  return { type: 'interval.failed', orgId: 'org', resource, day, error, requestId }
}

/** A clock that the test moves. */
export function clock(startsAt = Date.parse('2026-01-16T02:00:00Z')): {
  readonly now: () => number
  readonly advance: (ms: number) => void
} {
  let time = startsAt
  return {
    now: () => time,
    advance: (ms) => {
      time += ms
    },
  }
}
