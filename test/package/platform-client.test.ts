import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  AppError,
  parseDay,
  PlatformClient,
  UnknownOutcomeError,
  UsageError,
  type Credits,
  type Day,
  type DayRange,
  type Learned,
  type LearnedLimit,
  type PlatformClientOptions,
  type WantedLimit,
} from '../../src/index.ts'
import { isObject } from '../../src/lib/json.ts'
import { failureOf } from '../client/support.ts'
import { start } from '../emulator/support.ts'
import { sendJson, testServer } from '../support/helpers.ts'

const LIMIT: LearnedLimit = { rate: 5, burst: 9, source: 'headers', measuredAt: Date.now() }
const OPTIONS = { baseUrl: 'https://api.example.com', credential: 'key-1' }

describe('the client that the package exports', () => {
  it('needs two addresses and a key, and uses the real network', async () => {
    const { url, appUrl, keys } = await start()
    const client = open({ baseUrl: `${url}/`, appUrl, credential: keys.manager })
    expect(await client.computers.list()).toHaveLength(4)
    expect((await client.readiness.page({ limit: 1 })).length).toBe(1)
    const days = await client.tools({ startDate: '2026-03-19', endDate: '2026-03-19' })
    expect(days.map(({ date }) => date)).toEqual(['2026-03-19'])
  })

  it.each([
    [{ ...OPTIONS, baseUrl: '' }, 'baseUrl is not a URL'],
    [{ ...OPTIONS, baseUrl: 'http://api.example.com' }, 'is not https'],
    [{ ...OPTIONS, appUrl: 'http://app.example.com' }, 'is not https'],
    [{ ...OPTIONS, appUrl: 'https://user:word@app.example.com' }, 'a host and a path'],
    [{ ...OPTIONS, appUrl: 'http://user:word@app.example.com' }, 'a host and a path'],
    [{ ...OPTIONS, baseUrl: 'a:key' }, 'baseUrl is not https'],
    [{ ...OPTIONS, baseUrl: 'a-key' }, 'baseUrl is not a URL'],
    [{ ...OPTIONS, credential: '' }, 'the credential is empty'],
    [{ ...OPTIONS, rate: 0 }, 'rate: 0 is not a number above 0'],
    [{ ...OPTIONS, rate: NaN }, 'rate: NaN is not a number above 0'],
    [{ ...OPTIONS, timeoutMs: -1 }, 'timeoutMs: -1 is not a number above 0'],
    [{ ...OPTIONS, deadline: NaN }, 'deadline: NaN is not a number above 0'],
    [{ ...OPTIONS, concurrency: 0.5 }, 'concurrency: 0.5 is not a whole number of at least 1'],
    [{ ...OPTIONS, credential: 'a\r\nb' }, 'the credential is empty, or contains characters'],
    [{ ...OPTIONS, learned: { limit: null, concurrency: 0 } }, 'learned.concurrency: 0 is not'],
    [
      { ...OPTIONS, learned: { limit: { ...LIMIT, rate: NaN }, concurrency: 1 } },
      'limit.rate: NaN',
    ],
    [{ ...OPTIONS, learned: { limit: { ...LIMIT, burst: 0 }, concurrency: 1 } }, 'limit.burst: 0'],
  ])('refuses %j', (options, message) => {
    expect(() => new PlatformClient(options)).toThrow(UsageError)
    expect(() => new PlatformClient(options)).toThrow(message)
  })

  it('says what an address looks like instead of one that is not https', () => {
    const hint: unknown = expect.stringContaining('For example https://api.example.com.')
    expect(() => new PlatformClient({ ...OPTIONS, baseUrl: 'ftp://host' })).toThrow(
      expect.objectContaining({ message: 'baseUrl is not https', hint }),
    )
  })

  it('says why the key of a file may be refused', () => {
    expect(() => new PlatformClient({ ...OPTIONS, credential: 'key-1\n' })).toThrow(
      expect.objectContaining({ hint: 'Remove the line break that ends a key from a file.' }),
    )
  })

  it('takes an option that is undefined as not set', async () => {
    const { url } = await testServer((_, response) => {
      sendJson(response, 200, { userLimits: [] })
    })
    const limits = { rate: undefined, concurrency: undefined, timeoutMs: undefined }
    const ends = { deadline: undefined, signal: undefined, appUrl: undefined }
    const client = open({ ...OPTIONS, baseUrl: url, ...limits, ...ends })
    const wanted: WantedLimit = { email: 'ada.abara@acme.example', limit: null }
    const day: Day = parseDay('2026-03-01', 'a day')
    const range: DayRange = { first: day, last: day }
    const [credits, learned]: [Credits, Learned] = [wanted.limit, client.learned()]
    expect([range.first, credits, learned.limit]).toEqual(['2026-03-01', null, null])
    expect(await client.limits.get()).toEqual({ userLimits: [] })
  })

  it('takes variables of the environment that are not set', async () => {
    expect(() => {
      Reflect.construct(PlatformClient, [{ ...OPTIONS, credential: undefined }])
    }).toThrow(
      new UsageError('the credential is empty, or contains characters that a key cannot contain'),
    )
    const failure = await failureOf(open({ ...OPTIONS, appUrl: '' }).readiness.page())
    expect(failure.message).toContain('appUrl is not set')
  })

  it('begins with the limits that an earlier client learned, also read from a file', () => {
    const learned: Learned = { limit: LIMIT, concurrency: 3 }
    const saved = JSON.parse(JSON.stringify(learned)) as Learned
    expect(open({ ...OPTIONS, learned: saved }).learned()).toEqual(learned)
    expect(open({ ...OPTIONS, learned: saved, concurrency: 2 }).learned().concurrency).toBe(2)
    expect(open({ ...OPTIONS, learned: undefined }).learned()).toEqual({
      limit: null,
      concurrency: 1,
    })
  })

  it('names the address that readiness reports need', async () => {
    const { url, keys } = await start()
    const client = open({ baseUrl: url, appUrl: undefined, credential: keys.manager })
    const failure = await failureOf(client.readiness.page())
    expect(failure).toBeInstanceOf(UsageError)
    expect(failure.message).toContain('appUrl is not set')
    expect(failure).toMatchObject({ hint: undefined })
  })

  it('ends pending requests and sends no more after its signal aborts', async () => {
    const stop = new AbortController()
    const { url, requests } = await testServer((request) => {
      if (request.url !== undefined) stop.abort(new Error('enough'))
    })
    const client = open({ ...OPTIONS, baseUrl: url, signal: stop.signal })
    expect((await failureOf(client.computers.list())).message).toBe('enough')
    expect((await failureOf(client.computers.list())).message).toBe('enough')
    expect(requests).toHaveLength(1)
  })

  it('leaves nothing on its signal when a request has ended', async () => {
    const { signal } = new AbortController()
    const { url } = await testServer(({ method }, response) => {
      if (method === 'GET') sendJson(response, 200, { computers: [] })
      if (method === 'DELETE') sendJson(response, 404, {})
    })
    const client = open({ ...OPTIONS, baseUrl: url, signal, timeoutMs: 200 })
    const before = followersOf(signal)
    await client.computers.list()
    await failureOf(client.computers.delete('unknown'))
    await failureOf(client.computers.restart('that does not answer'))
    await vi.waitUntil(() => followersOf(signal) === before)
  })

  it('does not know the outcome of a change that its signal aborts', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const { url, requests } = await testServer(() => {
      stop.abort(reason)
    })
    const client = open({ ...OPTIONS, baseUrl: url, signal: stop.signal })
    const failure = await failureOf(client.computers.restart('c'))
    expect(failure).toBeInstanceOf(UnknownOutcomeError)
    expect(failure.message).toBe(
      'POST /api/v0/computers/c/restart: stopped without a response: enough',
    )
    expect(failure).toMatchObject({
      cause: reason,
      hint: expect.stringContaining('check') as unknown,
    })
    expect(await failureOf(client.computers.restart('c'))).toBe(reason)
    expect(requests).toHaveLength(1)
  })

  it('does not know the outcome of a change that failed before its signal aborts', async () => {
    const stop = new AbortController()
    const { url } = await testServer((_, response) => {
      sendJson(response, 503, { title: 'full' }, { 'retry-after': '5' })
      setTimeout(() => {
        stop.abort(new Error('enough'))
      }, 20)
    })
    const client = open({ ...OPTIONS, baseUrl: url, signal: stop.signal })
    const failure = await failureOf(client.limits.setGlobal(null))
    expect(failure).toBeInstanceOf(UnknownOutcomeError)
    expect(failure.message).toContain('503 full')
  })

  it('reaches the platform through the proxy of the environment', async () => {
    const stop = new AbortController()
    const reached: (string | undefined)[] = []
    const proxy = createServer().on('connect', ({ url }, socket) => {
      reached.push(url)
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
      stop.abort(new Error('enough'))
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void proxy.close())
    const { port } = proxy.address() as AddressInfo
    setEnvironment({ https_proxy: `http://127.0.0.1:${port}`, no_proxy: '' })
    const client = open({ ...OPTIONS, baseUrl: 'https://api.example.invalid', signal: stop.signal })
    await failureOf(client.computers.list())
    expect(reached).toEqual(['api.example.invalid:443'])
  })

  it('refuses an environment that turns off the check of certificates', () => {
    setEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })
    expect(() => new PlatformClient(OPTIONS)).toThrow(UsageError)
    expect(() => new PlatformClient(OPTIONS)).toThrow('NODE_TLS_REJECT_UNAUTHORIZED=0 turns off')
  })

  it('may be closed twice', async () => {
    const client = open(OPTIONS)
    await client.close()
    await client.close()
  })

  it('answers requests in progress after close, and fails others at once', async () => {
    const answers: (() => void)[] = []
    const { url } = await testServer((_, response) => {
      answers.push(() => {
        sendJson(response, 200, { computers: [] })
      })
    })
    const client = open({ ...OPTIONS, baseUrl: url, concurrency: 1, timeoutMs: 2_000 })
    const underWay = client.computers.list()
    const queued = failureOf(client.computers.list())
    await vi.waitUntil(() => answers.length > 0)
    const closed = client.close()
    const later = failureOf(client.computers.list())
    for (const failure of await Promise.all([queued, later])) {
      expect(failure).toBeInstanceOf(AppError)
      expect(failure).toMatchObject({ message: 'the client is closed and sends no more requests' })
      expect(failure).toHaveProperty('hint', expect.stringContaining('before close()'))
    }
    expect(answers).toHaveLength(1)
    answers[0]?.()
    expect(await underWay).toEqual([])
    await closed
  })

  it.each([Infinity, 3e9])('gives a response time if timeoutMs is %d', async (timeoutMs) => {
    const { url } = await testServer((_, response) => {
      setTimeout(() => {
        sendJson(response, 200, { computers: [] })
      }, 50)
    })
    const client = open({ ...OPTIONS, baseUrl: url, timeoutMs })
    expect(await client.computers.list()).toEqual([])
  })

  it('waits as Retry-After says, but not beyond the deadline', async () => {
    const { url, requests } = await testServer((_, response) => {
      sendJson(response, 429, { title: 'slow' }, { 'retry-after': '3600' })
    })
    const client = open({ ...OPTIONS, baseUrl: url, deadline: Date.now() + 60_000 })
    const failure = await failureOf(client.computers.list())
    expect(failure).toMatchObject({ name: 'DeferredError', hint: 'Try again later.' })
    expect(requests).toHaveLength(1)
  })

  it.each([3_600_000, -3_600_000])(
    'ends at the deadline if the clock was set by %d ms since the process started',
    async (ms) => {
      const { url } = await testServer(() => undefined)
      const start = performance.now()
      const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)
      onTestFinished(() => {
        now.mockRestore()
      })
      const deadline = Date.now() + 300
      const client = open({ ...OPTIONS, baseUrl: url, deadline, timeoutMs: 1_000 })
      const failure = await failureOf(client.computers.list())
      expect(failure).toMatchObject({
        name: 'DeferredError',
        message: 'the time limit was reached',
      })
      expect(performance.now() - start).toBeGreaterThan(250)
    },
  )
})

function open(options: PlatformClientOptions): PlatformClient {
  const client = new PlatformClient(options)
  onTestFinished(() => client.close())
  return client
}

/** The number of listeners of a signal, and of the signals that `AbortSignal.any` made from it. */
function followersOf(signal: AbortSignal): number {
  const name = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  )
  const made: unknown = name === undefined ? undefined : Reflect.get(signal, name)
  const size: unknown = isObject(made) ? Reflect.get(made, 'size') : 0
  return getEventListeners(signal, 'abort').length + Number(size)
}

/** Sets variables of the environment for one test. */
function setEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}
