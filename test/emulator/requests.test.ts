import { describe, expect, it } from 'vitest'

import { DEFAULT_KEYS, type Emulator } from '../../src/emulator/emulator.ts'
import { ask, days, problemSchema, start, TODAY, YESTERDAY } from './support.ts'

const PATHS = ['tokens', 'tools', 'activity', 'productivity', 'users'] as const

describe('credentials', () => {
  it.each(PATHS)(
    '/%s accepts owners and managers, and refuses members and guests',
    async (path) => {
      const emulator = await start()
      const statuses = await Promise.all(
        (['owner', 'manager', 'member', 'guest'] as const).map(async (role) => {
          const answer = await ask(emulator, `/${path}?${days(YESTERDAY)}`, emulator.keys[role])
          return answer.status
        }),
      )
      expect(statuses).toEqual([200, 200, 403, 403])
    },
  )

  it.each([
    ['no header', undefined],
    ['an unknown key', 'Bearer unknown-key'],
    ['another scheme', `Basic ${DEFAULT_KEYS.owner}`],
    ['a bare key', DEFAULT_KEYS.owner],
  ])('%s gets a 401', async (_, authorization) => {
    const emulator = await start()
    const headers = authorization === undefined ? {} : { authorization }
    const response = await fetch(`${emulator.url}/api/v1/analytics/tokens?${days(YESTERDAY)}`, {
      headers,
    })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    problemSchema.parse(await response.json())
  })
})

describe('parameters', () => {
  it.each([
    ['no startDate', `endDate=${YESTERDAY}`],
    ['no endDate', `startDate=${YESTERDAY}`],
    ['an empty date', `startDate=&endDate=${YESTERDAY}`],
    ['a date in another form', days('20260301', YESTERDAY)],
    ['a date that does not exist', days('2026-02-30', YESTERDAY)],
    ['a date with a time', days('2026-03-01T00:00:00Z', YESTERDAY)],
    ['a start after the end', days('2026-03-02', '2026-03-01')],
    ['today as the end', days('2026-03-01', TODAY)],
    ['today as the start', days(TODAY)],
    ['tomorrow', days('2026-03-21')],
    ['a day before the history', days('2026-01-13', '2026-01-20')],
  ])('%s gets a 400 at every endpoint', async (_, query) => {
    const emulator = await start()
    for (const path of PATHS) {
      const answer = await ask(emulator, `/${path}?${query}`)
      expect(answer.status, path).toBe(400)
      expect(problemSchema.parse(JSON.parse(answer.text)).status).toBe(400)
    }
  })

  it('the whole history, from its first day through yesterday, can be requested at once', async () => {
    const emulator = await start()
    const answer = await ask(emulator, `/activity?${days('2026-01-14', YESTERDAY)}`)
    expect(answer.status).toBe(200)
  })

  it('the history can begin on another first day', async () => {
    const emulator = await start({ firstDay: '2026-03-01' })
    const statuses = [
      (await ask(emulator, `/tools?${days('2026-02-28', '2026-03-02')}`)).status,
      (await ask(emulator, `/tools?${days('2026-03-01', '2026-03-02')}`)).status,
    ]
    expect(statuses).toEqual([400, 200])
  })

  it.each([
    ['/tokens', 'model', 200],
    ['/tools', 'tool_name', 200],
    ['/activity', 'client', 200],
    ['/tokens', 'client', 400],
    ['/tools', 'tool', 400],
    ['/activity', 'Client', 400],
    ['/activity', '', 400],
    ['/productivity', 'language', 400],
    ['/users', 'model', 400],
  ])('%s with group_by=%s gets a %i', async (path, group, status) => {
    const emulator = await start()
    const answer = await ask(emulator, `${path}?${days(YESTERDAY)}&group_by=${group}`)
    expect(answer.status).toBe(status)
  })

  it.each([
    ['1', 200],
    ['100', 200],
    ['0', 400],
    ['101', 400],
    ['-1', 400],
    ['1.5', 400],
    ['1e1', 400],
    ['ten', 400],
    ['', 400],
  ])('/users with limit=%s gets a %i', async (limit, status) => {
    const emulator = await start()
    expect((await ask(emulator, `/users?${days(YESTERDAY)}&limit=${limit}`)).status).toBe(status)
  })

  it.each(['unknown', ''])('/users with the unknown cursor "%s" gets a 400', async (cursor) => {
    const emulator = await start()
    expect((await ask(emulator, `/users?${days(YESTERDAY)}&cursor=${cursor}`)).status).toBe(400)
  })
})

describe('every response', () => {
  it.each([
    ['200', `/api/v1/analytics/tokens?${days(YESTERDAY)}`, 200],
    ['400', '/api/v1/analytics/tokens', 400],
    ['404 of an unknown resource', '/api/v1/analytics/nothing', 404],
    ['404 of an unknown path', '/', 404],
  ])(
    'with status %s has the platform clock, a request id and the JSON content type',
    async (_, path, status) => {
      const emulator = await start()
      const response = await fetch(emulator.url + path, {
        headers: { authorization: `Bearer ${emulator.keys.manager}` },
      })
      expect(response.status).toBe(status)
      expect(response.headers.get('date')).toBe('Fri, 20 Mar 2026 12:00:00 GMT')
      expect(response.headers.get('content-type')).toBe('application/json')
      const requestId = response.headers.get('x-request-id')
      expect(requestId).toMatch(/^req_/)
      if (status === 200) await response.text()
      else expect(problemSchema.parse(await response.json())).toMatchObject({ status, requestId })
    },
  )

  it('has its own request id', async () => {
    const emulator = await start()
    const first = await ask(emulator, '/tokens')
    const second = await ask(emulator, '/tokens')
    expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'))
  })

  it('has an envelope with the organisation and the requested dates', async () => {
    const emulator = await start({ orgId: 'org_7' })
    const { text } = await ask(emulator, `/productivity?${days('2026-03-01', '2026-03-03')}`)
    expect(JSON.parse(text)).toMatchObject({
      meta: { org_id: 'org_7', start_date: '2026-03-01', end_date: '2026-03-03' },
    })
  })
})

describe('the clock', () => {
  it('decides which days have data: yesterday has, and today has not', async () => {
    let now = Date.parse('2026-03-20T23:59:59.999Z')
    const emulator = await start({ now: () => now })
    const before = await ask(emulator, `/activity?${days('2026-03-20')}`)
    now += 1
    const after = await ask(emulator, `/activity?${days('2026-03-20')}`)
    expect([before.status, after.status]).toEqual([400, 200])
    expect(after.headers.get('date')).toBe('Sat, 21 Mar 2026 00:00:00 GMT')
  })
})

describe('the record of requests', () => {
  it('has path with query, status and role', async () => {
    const emulator = await start()
    await ask(emulator, `/tokens?${days(YESTERDAY)}`, emulator.keys.manager)
    await ask(emulator, '/tools', 'unknown')
    expect(emulator.requests).toEqual([
      {
        host: 'api',
        number: 1,
        method: 'GET',
        path: `/api/v1/analytics/tokens?${days(YESTERDAY)}`,
        status: 200,
        role: 'manager',
      },
      {
        host: 'api',
        number: 2,
        method: 'GET',
        path: '/api/v1/analytics/tools',
        status: 401,
        role: null,
      },
    ])
  })

  it('keeps only the latest requests', async () => {
    const emulator = await start({ remember: 2 })
    for (const path of ['/a', '/b', '/c']) await ask(emulator, path)
    expect(emulator.requests.map(({ number }) => number)).toEqual([2, 3])
  })
})

describe('start and stop', () => {
  it.each([
    ['users', { users: 0 }],
    ['seed', { seed: 1.5 }],
    ['port', { port: 65_536 }],
    ['app-port', { appPort: 65_536 }],
    ['rate', { rate: 0 }],
    ['burst', { burst: 0 }],
    ['first day', { firstDay: '14.01.2026' }],
  ])('an invalid %s is refused', async (name, options) => {
    await expect(start(options)).rejects.toThrow(name)
  })

  it('a port that is in use is named', async () => {
    for (const address of Object.values(addressesOf(await start()))) {
      const port = Number(new URL(address).port)
      await expect(start({ port })).rejects.toThrow(`127.0.0.1:${port}`)
      await expect(start({ appPort: port })).rejects.toThrow(`127.0.0.1:${port}`)
    }
  })

  it('both hosts and their open connections are closed', async () => {
    const emulator = await start()
    await ask(emulator, `/tokens?${days(YESTERDAY)}`)
    await emulator.close()
    await expect(fetch(emulator.url)).rejects.toThrow()
    await expect(fetch(emulator.appUrl)).rejects.toThrow()
  })
})

describe('the two hosts', () => {
  it.each([
    ['/api/v1/analytics/tokens?startDate=2026-03-19&endDate=2026-03-19', 'url'],
    ['/api/v0/organization/enterprise-controls/history', 'url'],
    ['/api/v0/computers', 'url'],
    ['/api/organization/maturity-level-reports', 'appUrl'],
  ] as const)('serve %s on only one of them', async (path, at) => {
    const emulator = await start()
    const headers = { authorization: `Bearer ${emulator.keys.owner}` }
    for (const [host, address] of Object.entries(addressesOf(emulator))) {
      const { status } = await fetch(`${address}${path}`, { headers })
      expect(status, host).toBe(host === at ? 200 : 404)
    }
  })
})

function addressesOf({ url, appUrl }: Emulator): Readonly<Record<'url' | 'appUrl', string>> {
  return { url, appUrl }
}
