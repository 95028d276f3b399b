import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Transport } from '../../src/client/http/transport.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import { bucketServer, STYLES, windowServer } from './limits.ts'
import { VirtualTime, type Answer, type Server, type VirtualOptions } from './virtual-time.ts'

const OK: Answer = { status: 200, headers: {} }
const BOUNDS = { credential: 'k', rate: 1000, concurrency: 8, deadline: Infinity }

function callOf(path: string) {
  return { method: 'GET', base: 'https://api.example.com', path, maxBytes: 1000 } as const
}

/** Requests every path at once. */
async function ask(
  server: Server,
  paths: readonly string[],
  options: Partial<VirtualOptions & typeof BOUNDS> = {},
): Promise<VirtualTime> {
  const time = new VirtualTime(server, { latencyMs: () => 20, ...options })
  const transport = new Transport({ ...BOUNDS, ...options }, time.world)
  const calls = paths.map((path) => transport.call(callOf(path), () => undefined))
  await time.until(Promise.all(calls))
  return time
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/x?page=${index}`)
}

describe('the governor', () => {
  it('leaves no listener on the signal of the run', async () => {
    const time = await ask(() => OK, many(50), { rate: 10 })
    expect(getEventListeners(time.stop.signal, 'abort')).toEqual([])
  })

  it('never exceeds the configured concurrency and rate', async () => {
    const { sent } = await ask(() => OK, many(200), {
      rate: 40,
      concurrency: 3,
      latencyMs: () => 200,
    })
    expect(Math.max(...sent.map(({ inFlight }) => inFlight))).toBe(3)
    const slow = await ask(() => OK, many(200), { rate: 40, concurrency: 3 })
    const times = slow.sent.map(({ at }) => at)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThanOrEqual((199 / 40) * 1000 - 100)
  })

  it('starts with one request, and adds more in flight while responses succeed', async () => {
    const { sent } = await ask(() => OK, many(400))
    expect(sent[0]?.inFlight).toBe(1)
    expect(sent.at(-8)?.inFlight).toBe(8)
  })

  it('holds every request while a Retry-After lasts', async () => {
    let count = 0
    const server = (): Answer => {
      count += 1
      return count === 5 ? { status: 429, headers: { 'retry-after': '60' } } : OK
    }
    const { sent } = await ask(server, many(20))
    const refused = sent.find(({ status }) => status === 429)
    const after = sent.filter(({ at }) => at > (refused?.at ?? 0) + 1000)
    expect(after.length).toBeGreaterThan(10)
    for (const { at } of after) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(60_000)
  })

  it('counts every answered request, however long sending takes', async () => {
    const server = bucketServer(100, 50, 'ratelimit')
    const { sent } = await ask(server, many(550), { clockReadMs: 0.05 })
    expect((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0)).toBeLessThan(8_000)
  })

  it('remembers no limit that allows nothing, where every response says that nothing is left', async () => {
    const time = new VirtualTime(
      () => ({ status: 200, headers: { 'x-ratelimit-remaining': '0' } }),
      {
        latencyMs: () => 20,
      },
    )
    const transport = new Transport(BOUNDS, time.world)
    const calls = many(30).map((path) => transport.call(callOf(path), () => undefined))
    await time.until(Promise.all(calls))
    expect(transport.learned().limit).toBeNull()
  })

  it('repeats a refused request alone, before new ones', async () => {
    let count = 0
    const server = (): Answer => {
      count += 1
      return count === 5 ? { status: 429, headers: { 'retry-after': '1' } } : OK
    }
    const { sent } = await ask(server, many(20), { latencyMs: () => 50 })
    const refused = sent.find(({ status }) => status === 429)
    const repeated = sent.filter(({ url }) => url === refused?.url)[1]
    const next = sent.filter(({ at }) => at > (refused?.at ?? 0) + 900).sort((a, b) => a.at - b.at)
    expect(next[0]).toBe(repeated)
    expect((next[1]?.at ?? 0) - (next[0]?.at ?? 0)).toBeGreaterThanOrEqual(40)
  })

  it('counts simultaneous refusals as one, and waits for the longest Retry-After', async () => {
    let count = 0
    const server = (now: number): Answer => {
      count += 1
      const isRefused = count > 300 && now < startsAt + 20_000
      const seconds = String(1 + (count % 3))
      return isRefused ? { status: 429, headers: { 'retry-after': seconds } } : OK
    }
    const startsAt = Date.parse('2026-03-10T06:00:00Z')
    const { sent, events } = await ask(server, many(400), { startsAt })
    const refusals = sent.filter(({ status }) => status === 429)
    const [first] = refusals
    const together = refusals.filter(({ at }) => at < (first?.at ?? 0) + 100)
    expect(together.length).toBeGreaterThan(2)
    const later = sent.filter(({ at }) => at > (first?.at ?? 0) + 100)
    expect(Math.min(...later.map(({ at }) => at)) - (first?.at ?? 0)).toBeGreaterThanOrEqual(3000)
    const longest = events.flatMap((event) =>
      event.type === 'governor.paused' ? [event.waitMs] : [],
    )
    expect(Math.max(...longest)).toBe(3000)
  })

  it.each([3, 5, 10, 20])(
    'does not get slower and slower when one in %i requests is refused at any rate',
    async (nth) => {
      let count = 0
      const server = (): Answer => {
        count += 1
        return count % nth === 0 ? { status: 429, headers: { 'retry-after': '1' } } : OK
      }
      const { sent } = await ask(server, many(400))
      const refused = sent.filter(({ status }) => status === 429).length
      const seconds = ((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0)) / 1000
      expect(seconds).toBeLessThan(2 * refused)
    },
  )

  it('law 10: sends nothing more when the wait would outlast the run', async () => {
    const server = (now: number): Answer =>
      now > startsAt + 1000 ? { status: 429, headers: { 'retry-after': '3600' } } : OK
    const startsAt = Date.parse('2026-03-10T06:00:00Z')
    const time = new VirtualTime(server, { latencyMs: () => 20, startsAt })
    const transport = new Transport({ ...BOUNDS, deadline: startsAt + 600_000 }, time.world)
    const calls = many(1000).map((path) => transport.call(callOf(path), () => undefined))
    const results = await time.until(Promise.allSettled(calls))
    const failures = results.flatMap((each) =>
      each.status === 'rejected' ? [each.reason as unknown] : [],
    )
    expect(failures.length).toBeGreaterThan(100)
    for (const failure of failures) expect(failure).toBeInstanceOf(DeferredError)
    expect(time.sent.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(8)
    expect(time.world.now()).toBeLessThan(startsAt + 2000)
  })

  it('defers requests that a quota does not allow before the deadline, without sending them', async () => {
    const startsAt = Date.parse('2026-03-10T06:10:00Z')
    const time = new VirtualTime(windowServer(50, 3_600_000, 'x-delta'), {
      latencyMs: () => 20,
      startsAt,
    })
    const transport = new Transport({ ...BOUNDS, deadline: startsAt + 600_000 }, time.world)
    const calls = many(200).map((path) => transport.call(callOf(path), () => undefined))
    const results = await time.until(Promise.allSettled(calls))
    const failures = results.filter(({ status }) => status === 'rejected')
    expect(failures.length).toBeLessThanOrEqual(152)
    expect(time.sent).toHaveLength(200 - failures.length)
    expect(time.sent.every(({ status }) => status === 200)).toBe(true)
  })

  it('sends nothing more after a stop signal, and fails with its reason', async () => {
    const reason = new DeferredError('stopped by SIGTERM')
    const time = new VirtualTime(() => OK, { latencyMs: () => 20 })
    const transport = new Transport({ ...BOUNDS, rate: 10 }, time.world)
    const calls = many(100).map((path) => transport.call(callOf(path), () => undefined))
    const stopping = time.world.sleep(3000).then(() => {
      time.stop.abort(reason)
    })
    const results = await time.until(Promise.allSettled([stopping, ...calls]))
    const failures = results.flatMap((each) =>
      each.status === 'rejected' ? [each.reason as unknown] : [],
    )
    expect(failures.length).toBeGreaterThan(50)
    expect(new Set(failures)).toEqual(new Set([reason]))
    expect(time.sent.length).toBeLessThan(40)
  })

  it('law 10: never sends during a Retry-After, whatever the server', async () => {
    const servers = fc.oneof(
      fc.record({
        make: fc.constant(bucketServer),
        rate: fc.double({ min: 0.2, max: 200, noNaN: true }),
        size: fc.integer({ min: 1, max: 100 }),
      }),
      fc.record({
        make: fc.constant(windowServer),
        rate: fc.constantFrom(1000, 7000, 60_000),
        size: fc.integer({ min: 1, max: 100 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        servers,
        fc.constantFrom(...STYLES),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        async (limit, style, latency, seed) => {
          const waits: { from: number; until: number }[] = []
          const inner =
            limit.make === bucketServer
              ? bucketServer(limit.rate, limit.size, style)
              : windowServer(limit.size, limit.rate, style)
          const server: Server = (now, inFlight) => {
            const answer = inner(now, inFlight)
            const waitMs = Number(answer.headers['retry-after'] ?? 0) * 1000
            if (waitMs > 0) waits.push({ from: now, until: now + waitMs })
            return answer
          }
          const { sent } = await ask(server, many(60), { seed, latencyMs: () => latency })
          expect(sent.filter(({ status }) => status === 200)).toHaveLength(60)
          // A response arrives after at most 1.2 times the latency; the clock has whole milliseconds.
          const arrival = (from: number): number => from + 1.2 * latency + 1
          const isEarly = (at: number): boolean =>
            waits.some(({ from, until }) => at > arrival(from) && at < until - 1)
          expect(sent.filter(({ at }) => isEarly(at))).toEqual([])
          expect(Math.max(...sent.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(8)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('the number of requests in flight', () => {
  /** A server that handles three requests at a time well, and slows down with each further one. */
  const crowded = (inFlight: number): number => (inFlight <= 3 ? 100 : 100 + 300 * (inFlight - 3))

  it('falls when responses take far longer than usual, but never to zero', async () => {
    const { sent } = await ask(() => OK, many(1500), { latencyMs: crowded })
    const settled = sent.slice(-500)
    const mean = settled.reduce((sum, { inFlight }) => sum + inFlight, 0) / settled.length
    expect(mean).toBeLessThan(5)
    expect(mean).toBeGreaterThan(2)
  })

  it('stays the same when responses are always slow, or a little slower than usual', async () => {
    const { sent } = await ask(() => OK, many(600), { latencyMs: (n) => 300 + 20 * n })
    expect(sent.at(-8)?.inFlight).toBe(8)
  })

  it('is halved by a 503 and grows again afterwards', async () => {
    const startsAt = Date.parse('2026-03-10T06:00:00Z')
    const server = (now: number): Answer =>
      now >= startsAt + 6000 && now < startsAt + 6080 ? { status: 503, headers: {} } : OK
    const { sent } = await ask(server, many(1500), { latencyMs: () => 100, startsAt })
    const last = sent.findLastIndex(({ status }) => status === 503)
    expect(Math.max(...sent.slice(last + 8, last + 20).map(({ inFlight }) => inFlight))).toBe(4)
    expect(sent.at(-8)?.inFlight).toBe(8)
  })
})
