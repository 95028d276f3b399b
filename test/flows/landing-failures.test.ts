import { describe, expect, it } from 'vitest'
import type { Ask } from '../support/fault-kinds.ts'
import { startFaultyPlatform } from '../support/faults.ts'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { DATE, platform, TODAY } from './landing-platform.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const NEXT_DATE = new Date(TODAY + 86_400_000).toUTCString()

describe('a failed fetch', () => {
  const asked = (request: {
    url?: string | undefined
  }): { first: string; last: string; path: string } => {
    const url = new URL(request.url ?? '', 'http://platform')
    return {
      first: url.searchParams.get('startDate') ?? '',
      last: url.searchParams.get('endDate') ?? '',
      path: url.pathname,
    }
  }

  it('fails a whole range after one request when the response belongs to another organisation', async () => {
    const data = await temporaryFolder()
    const world = testWorld(TODAY)
    const { url, requests } = await testServer((request, response) => {
      const isOther = /tools|users/.test(asked(request).path)
      const meta = { org_id: isOther ? 'other' : 'own', has_more: false }
      sendJson(response, 200, { data: [], meta }, { date: DATE })
    })
    const only = ['activity', 'tools', 'users']
    const { result } = await syncFrom(url, data, { only, world })
    expect(result).toMatchObject({ landed: 9, failed: 6 })
    const ledger = await ledgerOf(data, 'own')
    for (const resource of ['tools', 'users']) {
      expect(ledger.get(`${resource}/2026-01-15`)).toMatchObject({ status: 'failed', file: null })
      expect(ledger.get(`${resource}/2026-01-15`)?.error).toContain(
        'the response belongs to the organisation "other", not to "own"',
      )
    }
    expect(requests.filter((request) => request.includes('/tools'))).toHaveLength(1)
  })

  it('fails one bad day alone: the window is bisected down to it', async () => {
    const data = await temporaryFolder()
    const world = testWorld(Date.parse('2026-02-20T06:00:00Z'))
    const { url } = await testServer((request, response) => {
      const { first, last } = asked(request)
      const isBad = first <= '2026-01-30' && last >= '2026-01-30'
      const headers = { date: new Date(world.now()).toUTCString(), 'x-request-id': 'req-7' }
      if (isBad) sendJson(response, 500, { title: 'Internal', requestId: 'req-7' }, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const { result } = await syncFrom(url, data, { only: ['tools'], world })
    expect(result).toMatchObject({ landed: 36, failed: 1 })
    const ledger = await ledgerOf(data, 'o')
    expect(ledger.get('tools/2026-01-30')).toMatchObject({ status: 'failed', requestId: 'req-7' })
    expect(ledger.get('tools/2026-01-30')?.error).toContain('500 Internal')
  })

  it('counts no day as failed that landed later in the same run', async () => {
    const data = await temporaryFolder()
    const platform = await startFaultyPlatform({ now: () => TODAY, users: 14 })
    const isDay = ({ groupBy, first, last }: Ask): boolean =>
      groupBy === 'model' && first <= '2026-01-16' && last >= '2026-01-16'
    platform.strike([{ kind: '400', where: (ask) => isDay(ask) && ask.nth === 1 }])
    const { result } = await syncFrom(platform.url, data, {
      key: platform.emulator.keys.manager,
      world: testWorld(TODAY),
      only: ['activity', 'tokens_by_model', 'users'],
    })
    const ledger = await ledgerOf(data, 'org_demo')
    // read again with the totals that the pages of users are compared with
    expect(ledger.get('tokens_by_model/2026-01-16')).toMatchObject({
      status: 'landed',
      error: null,
    })
    expect(result).toMatchObject({ landed: ledger.size, failed: 0 })
  })

  it('fails no day when only the range was too wide', async () => {
    const data = await temporaryFolder()
    const world = testWorld(Date.parse('2026-04-01T06:00:00Z'))
    const { url, requests } = await testServer((request, response) => {
      const { first, last } = asked(request)
      const days = (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1
      const headers = { date: new Date(world.now()).toUTCString() }
      if (days > 31) sendJson(response, 400, { title: 'Range too wide' }, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const { result } = await syncFrom(url, data, { only: ['activity'], world })
    expect(result).toMatchObject({ landed: 77, failed: 0 })
    expect(requests.length).toBeLessThanOrEqual(10)
  })

  it('fails only the newest days while the platform does not serve them yet', async () => {
    const data = await temporaryFolder()
    const world = testWorld(Date.parse('2026-04-01T06:00:00Z'))
    const { url, requests } = await testServer((request, response) => {
      const headers = { date: new Date(world.now()).toUTCString() }
      if (asked(request).last > '2026-03-28') sendJson(response, 400, { title: 'Lag' }, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const { result } = await syncFrom(url, data, { only: ['tools'], world })
    expect(result).toMatchObject({ landed: 74, failed: 3 })
    expect(requests.length).toBeLessThanOrEqual(12)
    const failed = [...(await ledgerOf(data, 'o')).values()].filter((each) => each.file === null)
    expect(failed.map(({ day }) => day).sort()).toEqual(['2026-03-29', '2026-03-30', '2026-03-31'])
  })

  it('costs few requests when a resource is refused for every day', async () => {
    const data = await temporaryFolder()
    const world = testWorld(Date.parse('2026-04-01T06:00:00Z'))
    const { url, requests } = await testServer((request, response) => {
      const headers = { date: new Date(world.now()).toUTCString() }
      if (asked(request).path.endsWith('/tools')) sendJson(response, 400, { title: 'No' }, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const { result } = await syncFrom(url, data, { only: ['tools', 'tokens'], world })
    expect(result).toMatchObject({ landed: 77, failed: 77 })
    expect(requests.length).toBeLessThanOrEqual(9)
  })

  it.each([
    ['users', 500, 8],
    ['tools', 500, 8],
    ['tools', 400, 8],
    // a window is given up, because the resource may be gone
    ['tools', 404, 40],
  ])(
    'is repeated for each day of %s, although twenty newer days keep failing (%i)',
    async (resource, status, nights) => {
      const data = await temporaryFolder()
      const isBad = (day: string): boolean => day >= '2026-02-01' && day <= '2026-02-20'
      let now = Date.parse('2026-03-01T06:00:00Z')
      const { url } = await testServer((request, response) => {
        const { first, last, path } = asked(request)
        const isRefused = first <= '2026-02-20' && last >= '2026-02-01' && path.endsWith(resource)
        const headers = { date: new Date(now).toUTCString() }
        if (isRefused) sendJson(response, status, {}, headers)
        else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
      })
      let failed: string[] = []
      for (let night = 0; night < nights; night += 1) {
        await syncFrom(url, data, { only: [resource], world: testWorld(now) })
        const intervals = [...(await ledgerOf(data, 'o')).values()]
        failed = intervals.filter(({ file }) => file === null).map(({ day }) => day)
        now += 86_400_000
      }
      expect(failed.filter((day) => !isBad(day))).toEqual([])
      expect(failed).toHaveLength(20)
    },
  )

  it('fails only its resource, and the others land', async () => {
    const data = await temporaryFolder()
    const world = testWorld(Date.parse('2026-03-01T06:00:00Z'))
    const { url, requests } = await testServer((request, response) => {
      const headers = { date: new Date(world.now()).toUTCString() }
      if (asked(request).path.endsWith('/users')) sendJson(response, 503, {}, headers)
      else if (asked(request).path.endsWith('/tools')) sendJson(response, 500, {}, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const { result } = await syncFrom(url, data, { only: ['tools', 'tokens', 'users'], world })
    expect(result).toMatchObject({ failed: 92, stoppedBy: null })
    const landed = [...(await ledgerOf(data, 'o')).values()].filter(({ file }) => file !== null)
    expect(landed.filter(({ resource }) => resource === 'tokens')).toHaveLength(46)
    expect(requests.length).toBeLessThan(200)
  })

  it.each([
    ['a 500', 500, {}],
    ['no rows', 200, { detail: 'down for maintenance' }],
  ])('fails only /activity, which is also asked first, when it has %s', async (_, status, body) => {
    const data = await temporaryFolder()
    const { url } = await testServer((request, response) => {
      const headers = { date: DATE }
      if (asked(request).path.endsWith('/activity')) sendJson(response, status, body, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const only = ['activity', 'tools']
    const { result } = await syncFrom(url, data, { only, world: testWorld(TODAY) })
    expect(result).toMatchObject({ orgId: 'o', unreachable: null, stoppedBy: null })
    const ledger = await ledgerOf(data, 'o')
    expect(ledger.get('activity/2026-01-16')).toMatchObject({ status: 'failed' })
    expect(ledger.get('tools/2026-01-16')).toMatchObject({ status: 'empty' })
  })

  it('fails only /activity when a known organisation has it no more', async () => {
    const data = await temporaryFolder()
    let isGone = false
    const { url } = await testServer((request, response) => {
      const headers = { date: isGone ? NEXT_DATE : DATE }
      if (isGone && asked(request).path.endsWith('/activity')) sendJson(response, 404, {}, headers)
      else sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const only = ['activity', 'tools']
    await syncFrom(url, data, { only, world: testWorld(TODAY) })
    isGone = true
    const { result } = await syncFrom(url, data, { only, world: testWorld(TODAY + 86_400_000) })
    expect(result).toMatchObject({ unreachable: null, stoppedBy: null })
    const ledger = await ledgerOf(data, 'o')
    expect(ledger.get('activity/2026-01-17')).toMatchObject({ status: 'failed' })
    expect(ledger.get('tools/2026-01-17')).toMatchObject({ status: 'empty' })
  })

  it('ends the run after three requests when the key is forbidden everything', async () => {
    const data = await temporaryFolder()
    const { url, requests } = await testServer((_, response) => {
      sendJson(response, 403, { title: 'Forbidden', detail: 'Manager or Owner role required' })
    })
    const { result } = await syncFrom(url, data)
    expect(result.stoppedBy?.exitCode).toBe(5)
    expect(requests).toHaveLength(3)
  })

  it('law 10: defers the run when the platform asks to wait longer than the run has', async () => {
    const data = await temporaryFolder()
    const world = testWorld(TODAY)
    const { url, requests } = await testServer((_, response, count) => {
      const headers = { date: DATE, 'retry-after': '7200' }
      if (count <= 2) sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
      else sendJson(response, 429, {}, headers)
    })
    const { result } = await syncFrom(url, data, { world })
    expect(result.stoppedBy?.exitCode).toBe(4)
    expect(result.stoppedBy?.message).toContain(
      '; the next request may be sent in 7200 s, which is after the time',
    )
    expect(result.landed).toBeGreaterThan(0)
    expect(requests.length).toBeLessThan(10)
    expect(world.slept).toEqual([])
  })

  it('law 5: is recorded for the due days of a known organisation when the platform does not answer', async () => {
    const data = await temporaryFolder()
    const { url } = await testServer(platform(() => []))
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })
    const tomorrow = testWorld(TODAY + 86_400_000)
    const { result } = await syncFrom('http://127.0.0.1:1', data, {
      only: ['tokens'],
      world: tomorrow,
    })
    expect(result).toMatchObject({ landed: 0 })
    expect(result.unreachable?.message).toContain('ECONNREFUSED')
    const ledger = await ledgerOf(data, 'org/1')
    expect(ledger.get('tokens/2026-01-17')).toMatchObject({ status: 'failed', attempts: 1 })
    expect(ledger.get('tokens/2026-01-16')).toMatchObject({ status: 'empty', attempts: 2 })
  })

  it('is never recorded for a day that is not over at the platform, whatever the local clock says', async () => {
    const data = await temporaryFolder()
    const { url } = await testServer(platform(() => []))
    const late = TODAY + 300 * 86_400_000
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(late) })
    const down = { only: ['tokens'], world: testWorld(late + 86_400_000) }
    const { result } = await syncFrom('http://127.0.0.1:1', data, down)
    expect(result.unreachable).not.toBeNull()
    const days = [...(await ledgerOf(data, 'org/1')).values()].map(({ day }) => day)
    expect(days.sort().at(-1)).toBe('2026-01-17')
  })

  it.each([404, 302])(
    'ends the run after one request when a %i shows a wrong address',
    async (status) => {
      const data = await temporaryFolder()
      const { url, requests } = await testServer((_, response) => {
        sendJson(response, status, {}, { location: '/login' })
      })
      const { result } = await syncFrom(url, data)
      expect(result.stoppedBy?.exitCode).toBe(2)
      expect(result.stoppedBy?.hint).toContain('AGENT_BASE_URL')
      expect(requests).toHaveLength(1)
    },
  )

  it('fails what is due when the key belongs to another organisation than the data folder', async () => {
    const data = await temporaryFolder()
    const { url } = await testServer(platform(() => []))
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })
    const other = await testServer((_, response) => {
      sendJson(response, 200, { data: [], meta: { org_id: 'org-2' } }, { date: DATE })
    })
    const { result } = await syncFrom(other.url, data, { world: testWorld(TODAY) })
    expect(result.stoppedBy?.exitCode).toBe(2)
    expect(result.stoppedBy?.message).toContain('org-2')
    expect(result.landed).toBe(0)
    const users = [...(await ledgerOf(data, 'org/1')).values()].filter(
      ({ resource }) => resource === 'users',
    )
    expect(users.map(({ day, status }) => [day, status]).sort()).toEqual([
      ['2026-01-14', 'failed'],
      ['2026-01-15', 'failed'],
      ['2026-01-16', 'failed'],
    ])
  })

  it.each([
    ['a row of another day', '{"user_id":"a","date":"2026-01-13"}'],
    ['a row without a date', '{"user_id":"a"}'],
  ])('fails a day whose response has %s', async (_, row) => {
    const data = await temporaryFolder()
    const { url } = await testServer(
      platform((path, query) =>
        path === 'users' && query.get('startDate') === '2026-01-16' ? [row] : [],
      ),
    )
    const { result } = await syncFrom(url, data, { only: ['users'], world: testWorld(TODAY) })
    expect(result).toMatchObject({ failed: 1 })
    const users = [...(await ledgerOf(data, 'org/1')).values()].filter(
      ({ resource }) => resource === 'users',
    )
    expect(users.map(({ day, status }) => [day, status]).sort()).toEqual([
      ['2026-01-14', 'empty'],
      ['2026-01-15', 'empty'],
      ['2026-01-16', 'failed'],
    ])
  })
})
