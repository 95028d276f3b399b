import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { examine } from '../../src/doctor/examine.ts'
import { exitCodeOf, type Finding } from '../../src/doctor/finding.ts'
import { lock } from '../../src/lib/lock.ts'
import { rememberOrganisation } from '../../src/lake/organisations.ts'
import type { Day } from '../../src/lib/days.ts'
import {
  sendJson,
  temporaryFolder,
  testPlatform,
  testServer,
  testWorld,
  type Handler,
} from '../support/helpers.ts'
import { ELSEWHERE, leaveLease, waiting } from '../support/lease.ts'
import { syncFrom } from '../flows/platform.ts'

// As the command does before it makes any file.
beforeAll(() => {
  process.umask(0o077)
})

const NOW = Date.parse('2026-01-17T06:00:00Z')
const DATE = { date: new Date(NOW).toUTCString() }

/** An answer to every request of a check. */
const NOTHING = {
  data: [],
  meta: { org_id: 'o', has_more: false },
  changes: [],
  pagination: { hasMore: false },
  globalLimit: null,
  userLimits: [],
  computers: [],
  reports: [],
}

const well: Handler = (_, response) => {
  sendJson(response, 200, NOTHING, DATE)
}

interface Patient {
  readonly url?: string
  readonly key?: string
  readonly data?: string
  readonly isThorough?: boolean
  readonly now?: number
  readonly nodeVersion?: string
  readonly concurrency?: string
  readonly appUrl?: string
}

async function examined(patient: Patient = {}): Promise<Finding[]> {
  const data = patient.data ?? (await temporaryFolder())
  const url = patient.url ?? (await testServer(well)).url
  const environment = {
    AGENT_BASE_URL: url,
    AGENT_API_KEY: patient.key ?? 'key',
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_CONCURRENCY: patient.concurrency,
    AGENT_APP_URL: patient.appUrl,
  }
  return examine({
    loadConfig: () => loadConfig({}, environment, data),
    world: testWorld(patient.now ?? NOW),
    nodeVersion: patient.nodeVersion ?? '20.19.0',
    isThorough: patient.isThorough ?? false,
  })
}

/** The findings that are not fine, each in a few words. */
const complaints = (findings: readonly Finding[]): string[] =>
  findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${state}: ${check}`)

const finding = (findings: readonly Finding[], check: string): Finding | undefined =>
  findings.find((each) => each.check === check)

const NOTHING_YET = 'warning: warehouse'

describe('the doctor', () => {
  it('tells what beside analytics may be read, and that the application host is not known', async () => {
    const { url, appUrl } = await testPlatform((request, response) => {
      const isRefused = request.url?.includes('enterprise-controls') === true
      if (isRefused) sendJson(response, 403, { title: 'Forbidden' }, DATE)
      else sendJson(response, 200, NOTHING, DATE)
    })
    const without = await examined({ url })
    expect(complaints(without)).toEqual(['warning: resources', NOTHING_YET])
    expect(finding(without, 'resources')?.message).toBe(
      "the credential of 'default' may read usage_limits, computers",
    )
    expect(finding(without, 'readiness')?.message).toContain('no application host')
    const all = await examined({ url, appUrl })
    expect(finding(all, 'resources')?.message).toContain('readiness_reports')
    expect(finding(all, 'readiness')).toBeUndefined()
  })

  it('names the analytics endpoints that are refused, and those that are not', async () => {
    const { url } = await testServer((request, response) => {
      const isRefused = /analytics\/(activity|users)\?/.test(request.url ?? '')
      if (isRefused) sendJson(response, 403, { title: 'Forbidden' }, DATE)
      else sendJson(response, 200, NOTHING, DATE)
    })
    const findings = await examined({ url })
    expect(complaints(findings)).toEqual(['wrong: role', NOTHING_YET])
    expect(finding(findings, 'role')?.message).toMatch(
      /^the credential of 'default' may not read activity, users, but may read tokens, tools, productivity: .*403/,
    )
    expect(finding(findings, 'role')?.hint).toContain(
      'A run lands what is allowed, and ends with 5',
    )
    expect(exitCodeOf(findings)).toBe(5)
  })

  it('finds nothing wrong before the first run, by a small request each, and leaves no trace', async () => {
    const data = await temporaryFolder()
    const { url, requests } = await testServer(well)
    const findings = await examined({ url, data })
    expect(complaints(findings)).toEqual([NOTHING_YET])
    expect(exitCodeOf(findings)).toBe(0)
    expect(requests.map((each) => each.split('?')[0])).toEqual([
      'GET /api/v1/analytics/activity',
      ...['activity', 'tokens', 'tools', 'productivity', 'users'].map(
        (endpoint) => `GET /api/v1/analytics/${endpoint}`,
      ),
      'GET /api/v0/organization/enterprise-controls/history',
      'GET /api/v0/organization/usage/limits/users',
      'GET /api/v0/computers',
    ])
    expect(await readdir(data)).toEqual([])
  })

  it.each<[string, Handler, string[], number]>([
    [
      'a key that is not known',
      (_, response) => {
        sendJson(response, 401, { title: 'Unauthorized' }, DATE)
      },
      ['wrong: credential'],
      5,
    ],
    [
      'a role that may not',
      (_, response) => {
        sendJson(response, 403, { title: 'Forbidden' }, DATE)
      },
      ['wrong: role'],
      5,
    ],
    [
      'another server',
      (_, response) => {
        sendJson(response, 404, {}, DATE)
      },
      ['wrong: address'],
      2,
    ],
    [
      'a server that is not well',
      (_, response) => {
        sendJson(response, 500, {}, DATE)
      },
      ['wrong: address'],
      3,
    ],
    [
      'a long wait',
      (_, response) => {
        sendJson(response, 429, {}, { ...DATE, 'retry-after': '3600' })
      },
      ['warning: address'],
      0,
    ],
  ])('tells %s', async (_, handler, told, exitCode) => {
    const findings = await examined({ url: (await testServer(handler)).url })
    expect(complaints(findings)).toEqual([...told, NOTHING_YET])
    expect(exitCodeOf(findings)).toBe(exitCode)
  })

  it('tells nobody there from everything else', async () => {
    const findings = await examined({ url: 'http://127.0.0.1:1' })
    expect(complaints(findings)).toEqual(['wrong: address', NOTHING_YET])
    expect(finding(findings, 'address')?.message).toContain('cannot be reached')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it.each([
    ['the platform’s is in 1970', { date: 'Thu, 01 Jan 1970 00:00:00 GMT' }, NOW],
    ['the platform’s is in 9999', { date: 'Fri, 31 Dec 9999 23:59:59 GMT' }, NOW],
    ['this machine’s is in 1970', DATE, 0],
  ])('tells a clock that no run goes by: %s', async (_, date, now) => {
    const { url } = await testServer((__, response) => {
      sendJson(response, 200, NOTHING, date)
    })
    const findings = await examined({ url, now })
    expect(finding(findings, 'clock')).toMatchObject({ state: 'wrong', exitCode: 2 })
    expect(finding(findings, 'clock')?.message).toContain("this machine's clock says")
  })

  it('tells a clock that is off, and goes on', async () => {
    const findings = await examined({ now: NOW + 3 * 3_600_000 })
    expect(finding(findings, 'clock')).toMatchObject({ state: 'warning' })
    expect(finding(findings, 'clock')?.message).toContain('180 minutes ahead of')
    expect(exitCodeOf(findings)).toBe(0)
  })

  it('tells another organisation’s key', async () => {
    const data = await temporaryFolder()
    const other = { orgId: 'other', servedAs: 'other', lastDay: '2026-01-16' as Day, skewMs: 0 }
    await rememberOrganisation(data, 'default', other, () => undefined)
    const findings = await examined({ data })
    expect(complaints(findings)).toEqual(['wrong: organisation', NOTHING_YET])
    expect(exitCodeOf(findings)).toBe(2)
  })

  it('tells a configuration that cannot be used, and checks what needs none', async () => {
    const keyless = await examined({ key: ' ' })
    expect(complaints(keyless)).toEqual(['wrong: configuration', NOTHING_YET])
    expect(finding(keyless, 'configuration')?.hint).toContain('export AGENT_API_KEY')
    const unread = await examined({ concurrency: 'many' })
    expect(complaints(unread)).toEqual(['wrong: configuration'])
    expect([keyless, unread].map(exitCodeOf)).toEqual([2, 2])
  })

  it.each([
    ['18.20.8', 2],
    ['20.18.9', 2],
    ['20.19.0', 0],
    ['20.20.1', 0],
    ['21.7.0', 2],
    ['22.11.9', 2],
    ['22.12.0', 0],
    ['23.9.0', 2],
    ['24.0.0', 0],
    ['26.1.0', 0],
  ])('knows which Node.js is supported: %s', async (nodeVersion, exitCode) => {
    expect(exitCodeOf(await examined({ nodeVersion }))).toBe(exitCode)
  })

  it('tells a data folder that is a file, and one that is not there yet', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), '')
    expect(complaints(await examined({ data: join(folder, 'file') }))).toContain(
      'wrong: configuration',
    )
    const absent = await examined({ data: join(folder, 'not', 'yet') })
    expect(finding(absent, 'data folder')).toMatchObject({ state: 'ok' })
    expect(await readdir(folder)).toEqual(['file'])
  })
})

describe('of the files, the doctor', () => {
  async function landed(): Promise<{ data: string; url: string; file: string }> {
    const data = await temporaryFolder()
    const { url } = await testServer(well)
    await syncFrom(url, data, { world: testWorld(NOW) })
    const folder = join(data, 'lake/raw/tools/org=o/date=2026-01-15')
    const [name = ''] = await readdir(folder)
    return { data, url, file: join(folder, name) }
  }

  it('says that all is there', async () => {
    const { data, url } = await landed()
    const before = await readdir(data, { recursive: true })
    const findings = await examined({ data, url, isThorough: true })
    expect(complaints(findings)).toEqual([NOTHING_YET])
    expect(finding(findings, 'contents')?.message).toContain('all 24 files are as they landed')
    expect(await readdir(data, { recursive: true })).toEqual(before)
  })

  it('misses one that is gone', async () => {
    const { data, url, file } = await landed()
    await rm(file)
    const findings = await examined({ data, url })
    expect(complaints(findings)).toEqual(['wrong: files', NOTHING_YET])
    expect(finding(findings, 'files')?.message).toContain('tools 2026-01-15')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('finds a bit that flipped, when it is to read them all', async () => {
    const { data, url, file } = await landed()
    const bytes = await readFile(file)
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1
    await writeFile(file, bytes)
    expect(complaints(await examined({ data, url }))).toEqual([NOTHING_YET])
    const findings = await examined({ data, url, isThorough: true })
    expect(complaints(findings)).toEqual(['wrong: contents', NOTHING_YET])
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('tells days that are lacking, lines that cannot be read, and what is in quarantine', async () => {
    const { data, url } = await landed()
    const ledger = join(data, 'state/ledger/o.ndjson')
    const lines = (await readFile(ledger, 'utf8')).split('\n')
    await writeFile(ledger, ['{"of": "another"}', ...lines.slice(1)].join('\n'))
    await mkdir(join(data, 'quarantine/tools'), { recursive: true })
    await writeFile(join(data, 'quarantine/tools/one.parquet'), '')
    const findings = await examined({ data, url })
    expect(complaints(findings)).toEqual([
      'warning: ledger',
      'warning: ledger',
      'warning: days',
      'warning: quarantine',
      NOTHING_YET,
    ])
    expect(exitCodeOf(findings)).toBe(0)
  })

  it('tells a lake that no ledger tells of, and a warehouse that does not open', async () => {
    const { data, url } = await landed()
    await rm(join(data, 'state'), { recursive: true })
    await writeFile(join(data, 'warehouse.duckdb'), 'Dear Sir or Madam,')
    const findings = await examined({ data, url })
    expect(complaints(findings)).toEqual(['wrong: ledger', 'wrong: warehouse'])
    expect(finding(findings, 'ledger')?.hint).toContain('agent-warehouse build')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('tells who works there, and who was killed there', async () => {
    const { data, url } = await landed()
    const { release } = await lock(data, waiting('run-1', NOW - 125 * 60_000).options)
    const busy = await examined({ data, url })
    expect(finding(busy, 'lock')).toMatchObject({ state: 'ok' })
    expect(finding(busy, 'lock')?.message).toMatch(/^run run-1 \(process \d+ on .*, 2 h 5 min\)/)
    await release()
    await leaveLease(join(data, 'state', 'lock'), { begun: '1' })
    const left = await examined({ data, url })
    expect(finding(left, 'lock')).toMatchObject({ state: 'warning' })
    expect(exitCodeOf(left)).toBe(0)
    const long = (Date.now() - NOW) / 3_600_000
    await leaveLease(join(data, 'state', 'lock'), ELSEWHERE, (long + 1) * 3_600_000)
    const silent = await examined({ data, url })
    expect(finding(silent, 'lock')).toMatchObject({ state: 'warning' })
    expect(finding(silent, 'lock')?.message).toMatch(/ on elsewhere, .*is silent, last heartbeat/)
  })
})
