import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRunRecords, writeRunRecord, type RunRecord } from '../../src/observe/run-record.ts'
import { createSummary } from '../../src/observe/summary.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { clock, night } from './support.ts'

function recordOf(runId: string, startsAt: string, whole = true, version = '0.1.0'): RunRecord {
  const { now, advance } = clock(Date.parse(startsAt))
  const { listener, summary } = createSummary(now, version)
  for (const event of whole ? night : night.slice(0, 1)) {
    listener(event.type === 'run.started' ? { ...event, runId } : event)
    advance(500)
  }
  return summary().record
}

const whole = (record: RunRecord): RunRecord => record

function unexpected(message: string): never {
  return expect.fail(message)
}

test('a run record has the values of the summary under fixed names', async () => {
  const folder = join(await temporaryFolder(), 'runs')
  await writeRunRecord(folder, recordOf('run-1', '2026-01-16T02:00:00Z'))
  const text = await readFile(join(folder, 'run-1.json'), 'utf8')
  expect(JSON.parse(text)).toMatchObject({
    run_id: 'run-1',
    command: 'run',
    version: '0.1.0',
    status: 'partial',
    started_at: '2026-01-16T02:00:00.000Z',
    finished_at: '2026-01-16T02:00:09.500Z',
    exit_code: 3,
    totals: { asked: 4, landed: 1, failed: 1, rows: 121, requests: 1, retries: 1, models: 1 },
    failures: [
      {
        org_id: 'org',
        resource: 'users',
        day: '2026-01-15',
        error: 'HTTP 500 Internal error',
        request_id: 'req-9',
      },
    ],
    stages: [
      { stage: 'sync', duration_ms: 5000 },
      { stage: 'build', duration_ms: 900 },
    ],
  })
})

test('the run record written at the end replaces that of the start', async () => {
  const folder = await temporaryFolder()
  const start = recordOf('run-1', '2026-01-16T02:00:00Z', false)
  await writeRunRecord(folder, start)
  expect(await readRunRecords(folder, unexpected, whole)).toEqual([start])
  expect(start).toMatchObject({ status: 'running', finished_at: null, exit_code: null })
  const end = recordOf('run-1', '2026-01-16T02:00:00Z')
  await writeRunRecord(folder, end)
  expect(await readRunRecords(folder, unexpected, whole)).toEqual([end])
  expect(await readdir(folder)).toEqual(['run-1.json'])
})

test('run records are ordered by start, and damaged ones are named and left out', async () => {
  const folder = await temporaryFolder()
  for (const [runId, at] of [
    ['a', '2026-01-18T02:00:00Z'],
    ['b', '2026-01-16T02:00:00Z'],
    ['c', '2026-01-17T02:00:00Z'],
  ] as const) {
    await writeRunRecord(folder, recordOf(runId, at))
  }
  await writeFile(join(folder, 'half.json'), '{"run_id": "ha')
  await writeFile(join(folder, 'other.json'), '{"hello": "world"}')
  await writeFile(join(folder, 'notes.txt'), 'not read')
  await writeFile(join(folder, '.0123abcd-d.json.part'), '{')
  await mkdir(join(folder, 'folder.json'))
  const warnings: string[] = []
  const warn = (message: string): unknown => warnings.push(message)
  const ids = await readRunRecords(folder, warn, ({ run_id }) => run_id)
  expect(ids).toEqual(['b', 'c', 'a'])
  expect(warnings.sort()).toEqual([
    expect.stringContaining(
      `${join(folder, 'half.json')} is left out, until it is repaired or removed: `,
    ),
    `${join(folder, 'other.json')} is left out, until it is repaired or removed: it is not a run record`,
  ])
})

test('a run record of a later version is read without its new members', async () => {
  const folder = await temporaryFolder()
  const record = recordOf('run-1', '2026-01-16T02:00:00Z', true, '9.0.0')
  await writeFile(join(folder, 'run-1.json'), JSON.stringify({ ...record, mood: 'good' }))
  expect(await readRunRecords(folder, unexpected, whole)).toEqual([record])
})

test('a missing folder has no run records', async () => {
  const folder = join(await temporaryFolder(), 'none')
  expect(await readRunRecords(folder, unexpected, whole)).toEqual([])
})
