import { describe, expect, it } from 'vitest'

import { ask, days, problemSchema, start, YESTERDAY } from './support.ts'

const QUERY = `/productivity?${days(YESTERDAY)}`

describe('the rate limit', () => {
  it('allows a burst, then refuses with a Retry-After, and refills as the clock advances', async () => {
    let now = Date.parse('2026-03-20T12:00:00Z')
    const emulator = await start({ now: () => now, rate: 0.5, burst: 3 })
    const burst = [
      await ask(emulator, QUERY),
      await ask(emulator, QUERY),
      await ask(emulator, QUERY),
    ]
    expect(burst.map(({ status }) => status)).toEqual([200, 200, 200])

    const refused = await ask(emulator, QUERY)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(problemSchema.parse(JSON.parse(refused.text)).status).toBe(429)

    now += 2_000
    expect((await ask(emulator, QUERY)).status).toBe(200)
    expect((await ask(emulator, QUERY)).status).toBe(429)
  })

  it('is separate for each credential', async () => {
    const emulator = await start({ rate: 1, burst: 1 })
    const owner = [await ask(emulator, QUERY), await ask(emulator, QUERY)]
    const manager = await ask(emulator, QUERY, emulator.keys.manager)
    expect(owner.map(({ status }) => status)).toEqual([200, 429])
    expect(manager.status).toBe(200)
  })

  it('is off by default', async () => {
    const emulator = await start()
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(emulator, QUERY)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
  })
})

describe('intercept', () => {
  it('replaces the response, which keeps the platform clock and a request id', async () => {
    const emulator = await start({
      intercept: ({ number }) => (number === 1 ? new Response('busy', { status: 503 }) : undefined),
    })
    const first = await ask(emulator, QUERY)
    const second = await ask(emulator, QUERY)
    expect([first.status, first.text, second.status]).toEqual([503, 'busy', 200])
    expect(first.headers.get('date')).toBe('Fri, 20 Mar 2026 12:00:00 GMT')
    expect(first.headers.has('x-request-id')).toBe(true)
    expect(emulator.requests.map(({ status }) => status)).toEqual([503, 200])
  })

  it('keeps the headers that it sets', async () => {
    const headers = { date: 'Thu, 01 Jan 1970 00:00:00 GMT', 'x-request-id': 'mine' }
    const emulator = await start({ intercept: () => new Response(null, { status: 500, headers }) })
    const answer = await ask(emulator, QUERY)
    expect(Object.fromEntries(answer.headers)).toMatchObject(headers)
  })

  it('gets the request', async () => {
    const seen: unknown[] = []
    const emulator = await start({
      intercept: ({ path, query, method, headers }) => {
        seen.push([method, path, query.get('endDate'), headers.get('authorization')])
        return undefined
      },
    })
    await ask(emulator, QUERY)
    const authorization = `Bearer ${emulator.keys.owner}`
    expect(seen).toEqual([['GET', '/api/v1/analytics/productivity', YESTERDAY, authorization]])
  })

  it('can change the response of the platform', async () => {
    const emulator = await start({
      intercept: async ({ answer }) => {
        const { status, headers, ...rest } = await read(await answer())
        headers.set('x-changed', 'yes')
        return new Response(rest.text.replace('org_demo', 'org_other'), { status, headers })
      },
    })
    const answer = await ask(emulator, QUERY)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('"org_id":"org_other"')
    expect(answer.headers.get('x-changed')).toBe('yes')
  })

  it('can read the response and pass it on', async () => {
    const emulator = await start({
      intercept: async ({ answer }) => {
        await answer()
        return undefined
      },
    })
    expect((await ask(emulator, QUERY)).status).toBe(200)
  })

  it('gives a 500 when it throws', async () => {
    const emulator = await start({
      intercept: () => {
        throw new Error('out of luck')
      },
    })
    const answer = await ask(emulator, QUERY)
    expect(answer.status).toBe(500)
    expect(problemSchema.parse(JSON.parse(answer.text)).detail).toBe('out of luck')
  })
})

async function read(response: Response) {
  const { status, headers } = response
  return { status, headers: new Headers(headers), text: await response.text() }
}
