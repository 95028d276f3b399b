import { describe, expect, test } from 'vitest'
import { createJsonLog, createTextLog, createRedact, redactedEvent } from '../../src/observe/log.ts'
import { failed, finished, night } from './support.ts'

const AT = Date.parse('2026-01-16T02:00:00Z')

describe('the text log', () => {
  test('has no lines for requests, pages, quick models and passed checks', () => {
    const lines: string[] = []
    night.forEach(createTextLog((text) => lines.push(text)))
    expect(lines).toEqual([
      'run started, run run-1\n',
      'organisation org; today is 2026-01-16 there\n',
      'plan for org: at least 3 requests; days due: tokens 2, users 2 (3 missing, 1 recheck)\n',
      'retry in 2.0s after attempt 1: GET /users: 503\n',
      'failed users 2026-01-15 of org: HTTP 500 Internal error (request req-9)\n',
      'sync took 5.0s\n',
      'check dau_adds_up warned: 2 rows\n',
      'published data/warehouse.duckdb (12 MB)\n',
      'warning: the disk is nearly full\n',
      'exported 25 tables, 4,321 rows to data/exports/csv\n',
      'build took 900ms\n',
      'run run-1 finished with exit code 3\n',
    ])
  })

  test('says how far the platform’s clock is from that of this machine', () => {
    const lines: string[] = []
    const log = createTextLog((text) => lines.push(text))
    for (const skewSeconds of [0, 90, -27_101_276]) {
      log({ type: 'organisation.identified', orgId: 'org', today: '2026-01-20', skewSeconds })
    }
    expect(lines).toEqual([
      'organisation org; today is 2026-01-20 there\n',
      'organisation org; today is 2026-01-20 there (its clock is 1m 30s ahead)\n',
      'organisation org; today is 2026-01-20 there (its clock is 314 days behind)\n',
    ])
  })

  test('reports the progress of a long history four times', () => {
    const lines: string[] = []
    const log = createTextLog((text) => lines.push(text))
    const reasons = { missing: 311, failed: 0, recheck: 0, forced: 0 }
    log({ type: 'plan.made', orgId: 'org', requests: 1, days: { tokens: 311 }, reasons })
    for (let day = 0; day < 311; day += 1) log(finished('tokens', `day ${day}`, 'landed', 1))
    expect(lines.slice(1)).toEqual(
      ['78', '156', '234', '311'].map((done) => `tokens ${done} of 311 days\n`),
    )
  })

  test('lists the first ten failed intervals of an organisation, and counts the others', () => {
    const lines: string[] = []
    const log = createTextLog((text) => lines.push(text))
    for (let day = 0; day < 489; day += 1) log(failed('users', `day ${day}`, 'HTTP 503'))
    log({ type: 'stage.finished', stage: 'sync', durationMs: 1000 })
    expect(lines).toHaveLength(12)
    expect(lines.slice(9)).toEqual([
      'failed users day 9 of org: HTTP 503\n',
      'and 479 more failed intervals of org in the run record\n',
      'sync took 1.0s\n',
    ])
  })

  test('law 11: has no line forged by a message of the server, and no credential', () => {
    const lines: string[] = []
    const log = createTextLog((text) => lines.push(text))
    const event = failed('users', '2026-01-15', 'refused secret-key-1\npublished /tmp/evil')
    log(redactedEvent(event, createRedact(['secret-key-1'])))
    expect(lines).toEqual([
      'failed users 2026-01-15 of org: refused [redacted] published /tmp/evil\n',
    ])
  })
})

describe('the JSON log', () => {
  test('has every event with its time', () => {
    const lines: string[] = []
    night.forEach(
      createJsonLog(
        (text) => lines.push(text),
        () => AT,
      ),
    )
    const read = lines.map((line): unknown => JSON.parse(line))
    expect(read).toEqual(night.map((event) => ({ at: '2026-01-16T02:00:00.000Z', ...event })))
  })

  test('stays JSON when a credential with quotes is redacted', () => {
    const lines: string[] = []
    const log = createJsonLog(
      (text) => lines.push(text),
      () => AT,
    )
    const message = 'the key a"b\\c"d and Bearer abc123def"456'
    log(redactedEvent({ type: 'warning', message }, createRedact(['a"b\\c"d'])))
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      at: '2026-01-16T02:00:00.000Z',
      type: 'warning',
      message: 'the key [redacted] and Bearer [redacted]"456',
    })
  })
})
