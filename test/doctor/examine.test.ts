import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { examine } from '../../src/doctor/examine.ts'
import { exitCodeOf, type Finding } from '../../src/doctor/finding.ts'
import { writeRecords } from '../../src/lake/published.ts'
import { lock } from '../../src/lib/lock.ts'
import { sparkVersion } from '../../src/model/engines/spark.ts'
import { verifySeeds } from '../../src/pipeline/seeds.ts'
import { rememberOrganisation } from '../../src/lake/organisations.ts'
import type { Day } from '../../src/lib/days.ts'
import type { World } from '../../src/lib/world.ts'
import { TransportError } from '../../src/client/index.ts'
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

// The command does this before it creates any file.
beforeAll(() => {
  process.umask(0o077)
})

const NOW = Date.parse('2026-01-17T06:00:00Z')
const DATE = { date: new Date(NOW).toUTCString() }

/** A response that suits every request of a check. */
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

const healthy: Handler = (_, response) => {
  sendJson(response, 200, NOTHING, DATE)
}

interface Setup {
  readonly world?: World
  readonly url?: string
  readonly key?: string
  readonly data?: string
  readonly isThorough?: boolean
  readonly now?: number
  readonly nodeVersion?: string
  readonly concurrency?: string
  readonly appUrl?: string
}

async function examined(setup: Setup = {}): Promise<Finding[]> {
  const data = setup.data ?? (await temporaryFolder())
  const url = setup.url ?? (await testServer(healthy)).url
  const environment = {
    AGENT_BASE_URL: url,
    AGENT_API_KEY: setup.key ?? 'key',
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_CONCURRENCY: setup.concurrency,
    AGENT_APP_URL: setup.appUrl,
  }
  return examine({
    loadConfig: () => loadConfig({}, environment, data),
    verifySeeds,
    sparkVersion,
    world: setup.world ?? testWorld(setup.now ?? NOW),
    nodeVersion: setup.nodeVersion ?? '20.19.0',
    isThorough: setup.isThorough ?? false,
  })
}

/** The findings that are not `ok`, as `state: check`. */
const problems = (findings: readonly Finding[]): string[] =>
  findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${state}: ${check}`)

const finding = (findings: readonly Finding[], check: string): Finding | undefined =>
  findings.find((each) => each.check === check)

const NO_WAREHOUSE = 'warning: warehouse'

describe('doctor', () => {
  it('names the entity resources that the credential may read, and reports a missing application host', async () => {
    const { url, appUrl } = await testPlatform((request, response) => {
      const isRefused = request.url?.includes('enterprise-controls') === true
      if (isRefused) sendJson(response, 403, { title: 'Forbidden' }, DATE)
      else sendJson(response, 200, NOTHING, DATE)
    })
    const without = await examined({ url })
    expect(problems(without)).toEqual(['warning: resources', NO_WAREHOUSE])
    expect(finding(without, 'resources')?.message).toBe(
      "the credential of 'default' may read usage_limits, computers",
    )
    expect(finding(without, 'readiness')?.message).toContain('no web application host')
    const all = await examined({ url, appUrl })
    expect(finding(all, 'resources')?.message).toContain('readiness_reports')
    expect(finding(all, 'readiness')).toBeUndefined()
  })

  it('names the analytics endpoints that the credential may not read, and those that it may', async () => {
    const { url } = await testServer((request, response) => {
      const [, name = ''] = /analytics\/(\w+)\?/.exec(request.url ?? '') ?? []
      if (['activity', 'users'].includes(name))
        sendJson(response, 403, { title: 'Forbidden' }, DATE)
      else if (name === 'productivity') sendJson(response, 400, { title: 'Bad Request' }, DATE)
      else sendJson(response, 200, NOTHING, DATE)
    })
    const findings = await examined({ url })
    expect(problems(findings)).toEqual(['wrong: role', 'warning: role', NO_WAREHOUSE])
    expect(finding(findings, 'role')?.message).toMatch(
      /^the credential of 'default' may not read activity, users, but may read tokens, tools: .*403/,
    )
    expect(finding(findings, 'role')?.hint).toContain(
      'A run loads what is allowed, and exits with 5',
    )
    expect(exitCodeOf(findings)).toBe(5)
  })

  it('finds no fault before the first run, with one small request per endpoint, and writes nothing', async () => {
    const data = await temporaryFolder()
    const { url, requests } = await testServer(healthy)
    const findings = await examined({ url, data })
    expect(problems(findings)).toEqual([NO_WAREHOUSE])
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
      'an unknown key',
      (_, response) => {
        sendJson(response, 401, { title: 'Unauthorized' }, DATE)
      },
      ['wrong: credential'],
      5,
    ],
    [
      'a role without access',
      (_, response) => {
        sendJson(response, 403, { title: 'Forbidden' }, DATE)
      },
      ['wrong: role'],
      5,
    ],
    [
      'a server that is not the platform',
      (_, response) => {
        sendJson(response, 404, {}, DATE)
      },
      ['wrong: address'],
      2,
    ],
    [
      'a server error',
      (_, response) => {
        sendJson(response, 500, {}, DATE)
      },
      ['wrong: address'],
      3,
    ],
    [
      'a long rate limit wait',
      (_, response) => {
        sendJson(response, 429, {}, { ...DATE, 'retry-after': '3600' })
      },
      ['warning: address'],
      0,
    ],
  ])('reports %s', async (_, handler, expected, exitCode) => {
    const findings = await examined({ url: (await testServer(handler)).url })
    expect(problems(findings)).toEqual([...expected, NO_WAREHOUSE])
    expect(exitCodeOf(findings)).toBe(exitCode)
  })

  it('reports an unreachable platform with exit code 3', async () => {
    const findings = await examined({ url: 'http://127.0.0.1:1' })
    expect(problems(findings)).toEqual(['wrong: address', NO_WAREHOUSE])
    expect(finding(findings, 'address')?.message).toContain('cannot be reached')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('reports a file of the data folder that cannot be read as such, not as a fault of the platform', async () => {
    const data = await temporaryFolder()
    await mkdir(join(data, 'state', 'organisations.json'), { recursive: true })
    const found = await examined({ data })
    expect(problems(found)).toEqual(['wrong: organisation', 'warning: warehouse'])
    const { message } = found.find(({ check }) => check === 'organisation') ?? {}
    expect(message).toMatch(/organisations\.json is a folder, but must be a file$/)
  })

  it('reports a platform that never answers with exit code 3', async () => {
    let late = 0
    const world = testWorld(NOW)
    const findings = await examined({
      world: {
        ...world,
        now: () => world.now() + late,
        fetch: ({ timeoutMs }) => {
          late += timeoutMs
          return Promise.reject(new TransportError('no response', true))
        },
      },
    })
    expect(problems(findings)).toEqual(['wrong: address', NO_WAREHOUSE])
    expect(finding(findings, 'address')?.message).toContain('cannot be reached: no response')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it.each([
    ['that of the platform is in 1970', { date: 'Thu, 01 Jan 1970 00:00:00 GMT' }, NOW],
    ['that of the platform is in 9999', { date: 'Fri, 31 Dec 9999 23:59:59 GMT' }, NOW],
    ['that of this machine is in 1970', DATE, 0],
  ])('reports a clock that a run would refuse: %s', async (_, date, now) => {
    const { url } = await testServer((__, response) => {
      sendJson(response, 200, NOTHING, date)
    })
    const findings = await examined({ url, now })
    expect(finding(findings, 'clock')).toMatchObject({ state: 'wrong', exitCode: 2 })
    expect(finding(findings, 'clock')?.message).toContain("this machine's clock says")
  })

  it('warns of a clock that is some hours off, and continues', async () => {
    const findings = await examined({ now: NOW + 3 * 3_600_000 })
    expect(finding(findings, 'clock')).toMatchObject({ state: 'warning' })
    expect(finding(findings, 'clock')?.message).toContain('180 minutes ahead of')
    expect(exitCodeOf(findings)).toBe(0)
  })

  it('reports the key of another organisation', async () => {
    const data = await temporaryFolder()
    const other = { orgId: 'other', servedAs: 'other', lastDay: '2026-01-16' as Day, skewMs: 0 }
    await rememberOrganisation(data, 'default', other, () => undefined)
    const findings = await examined({ data })
    expect(problems(findings)).toEqual(['wrong: organisation', NO_WAREHOUSE])
    expect(exitCodeOf(findings)).toBe(2)
  })

  it('reports an unusable configuration, and runs the checks that need none', async () => {
    const keyless = await examined({ key: ' ' })
    expect(problems(keyless)).toEqual(['wrong: configuration', NO_WAREHOUSE])
    expect(finding(keyless, 'configuration')?.hint).toContain('export AGENT_API_KEY')
    const unread = await examined({ concurrency: 'many' })
    expect(problems(unread)).toEqual(['wrong: configuration'])
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

  it('reports a data folder that is a file, and accepts one that does not exist yet', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), '')
    expect(problems(await examined({ data: join(folder, 'file') }))).toContain(
      'wrong: configuration',
    )
    const absent = await examined({ data: join(folder, 'not', 'yet') })
    expect(finding(absent, 'data folder')).toMatchObject({ state: 'ok' })
    expect(await readdir(folder)).toEqual(['file'])
  })
})

describe('doctor on the files of the data folder', () => {
  async function landed(): Promise<{ data: string; url: string; file: string }> {
    const data = await temporaryFolder()
    const { url } = await testServer(healthy)
    await syncFrom(url, data, { world: testWorld(NOW) })
    const folder = join(data, 'lake/raw/tools/org=o/date=2026-01-15')
    const [name = ''] = await readdir(folder)
    return { data, url, file: join(folder, name) }
  }

  it('reports that all files are present and as they landed', async () => {
    const { data, url } = await landed()
    const before = await readdir(data, { recursive: true })
    const findings = await examined({ data, url, isThorough: true })
    expect(problems(findings)).toEqual([NO_WAREHOUSE])
    expect(finding(findings, 'contents')?.message).toContain('all 24 files are unchanged')
    expect(await readdir(data, { recursive: true })).toEqual(before)
  })

  it('reports a published warehouse that is gone', async () => {
    const { data, url } = await landed()
    const record = { runId: 'r1', builtAt: '2026-01-15T06:00:00Z', asOf: null, sha256: 'a' }
    const written = { bytes: 1, modifiedAt: '2026-01-15T06:00:00Z', content: 'b', meta: 'c' }
    await writeRecords(join(data, 'warehouse.duckdb'), [{ ...record, ...written }])
    const found = finding(await examined({ data, url }), 'warehouse')
    expect(found).toMatchObject({
      state: 'wrong',
      hint: expect.stringContaining('build') as string,
    })
    expect(found?.message).toContain('is gone; run r1 published it')
  })

  it('reports a missing file', async () => {
    const { data, url, file } = await landed()
    await rm(file)
    const findings = await examined({ data, url })
    expect(problems(findings)).toEqual(['wrong: files', 'warning: days', NO_WAREHOUSE])
    for (const check of ['files', 'days'])
      expect(finding(findings, check)?.message).toContain('tools 2026-01-15')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('finds a flipped bit with --all, and not without', async () => {
    const { data, url, file } = await landed()
    const bytes = await readFile(file)
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1
    await writeFile(file, bytes)
    expect(problems(await examined({ data, url }))).toEqual([NO_WAREHOUSE])
    const findings = await examined({ data, url, isThorough: true })
    expect(problems(findings)).toEqual(['wrong: contents', NO_WAREHOUSE])
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('warns of days that only the ledger lost, its unreadable lines, and files in quarantine', async () => {
    const { data, url } = await landed()
    const ledger = join(data, 'state/ledger/o.ndjson')
    const lines = (await readFile(ledger, 'utf8')).split('\n')
    await writeFile(ledger, ['{"of": "another"}', ...lines.slice(1)].join('\n'))
    await mkdir(join(data, 'quarantine/tools'), { recursive: true })
    await writeFile(join(data, 'quarantine/tools/one.parquet'), '')
    const findings = await examined({ data, url })
    expect(problems(findings)).toEqual([
      'warning: ledger',
      'warning: ledger',
      'warning: quarantine',
      NO_WAREHOUSE,
    ])
    expect(exitCodeOf(findings)).toBe(0)
  })

  it('reports a lake without a ledger, and a warehouse that does not open', async () => {
    const { data, url } = await landed()
    await rm(join(data, 'state'), { recursive: true })
    await writeFile(join(data, 'warehouse.duckdb'), 'not a database')
    const findings = await examined({ data, url })
    expect(problems(findings)).toEqual(['wrong: ledger', 'wrong: warehouse'])
    expect(finding(findings, 'ledger')?.hint).toContain('agent-warehouse build')
    expect(exitCodeOf(findings)).toBe(3)
  })

  it('names the run that holds the lock, and warns of a killed or silent one', async () => {
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
