import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Transport } from '../../src/client/http/transport.ts'
import type { Learned } from '../../src/lib/learned.ts'
import { bucketServer, STYLES, windowServer, type Style } from './limits.ts'
import { VirtualTime, type Server, type VirtualOptions } from './virtual-time.ts'

const CALL = { method: 'GET', base: 'https://api.example.com', path: '/x', maxBytes: 1000 } as const
const TASKS = 16

interface Figures {
  readonly seconds: number
  /** Refused requests, as a share of those that passed. */
  readonly refused: number
  readonly learned: Learned
}

/** Sends `count` requests and measures them. */
async function ask(
  server: Server,
  count: number,
  options: Partial<VirtualOptions> & { readonly learned?: Learned } = {},
): Promise<Figures> {
  const { learned, ...virtual } = options
  const time = new VirtualTime(server, { latencyMs: () => 5, ...virtual })
  const began = time.world.now()
  const bounds = { credential: 'k', rate: 1000, concurrency: 8, deadline: Infinity }
  const transport = new Transport(
    learned === undefined ? bounds : { ...bounds, learned },
    time.world,
  )
  let left = count
  const task = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await transport.call(CALL, () => undefined)
    }
  }
  await time.until(Promise.all(Array.from({ length: TASKS }, task)))
  const refusals = time.sent.filter(({ status }) => status === 429).length
  return {
    seconds: (time.world.now() - began) / 1000,
    refused: refusals / count,
    learned: transport.learned(),
  }
}

/** Requests a second, and the burst after a pause. */
const BUCKETS = [
  [100, 50],
  [50, 10],
  [20, 5],
  [10, 10],
] as const
const SECONDS = 30
const cases = STYLES.flatMap((style) =>
  BUCKETS.map(([rate, burst]): [Style, number, number] => [style, rate, burst]),
)

describe('a rate limit', () => {
  it.each(cases)(
    'with header style %s: %i requests a second with burst %i is used almost fully, with few requests refused',
    async (style, rate, burst) => {
      const { seconds, refused } = await ask(
        bucketServer(rate, burst, style),
        burst + rate * SECONDS,
      )
      expect(seconds / SECONDS).toBeLessThanOrEqual(style === 'none' ? 1.25 : 1.1)
      expect(refused).toBeLessThanOrEqual(0.01)
    },
  )

  it.each([0, 50, 150, 400])(
    'of 20 requests a second is kept by a first night whose first request takes %i ms to connect',
    async (connectMs) => {
      for (const style of ['retry-after', 'none'] as const) {
        const server = bucketServer(20, 5, style)
        const { seconds, refused } = await ask(server, 331, { connectMs })
        expect(seconds / 16.3).toBeLessThanOrEqual(1.25)
        expect(refused).toBeLessThanOrEqual(0.01)
      }
    },
  )

  it.each([1, 2, 3, 4])('is used and kept when latency varies (seed %i)', async (seed) => {
    const chance = chanceOf(seed)
    const latencyMs = (): number => (chance() < 0.3 ? 5 + 20 * chance() : 5)
    for (const [rate, burst] of BUCKETS) {
      const server = bucketServer(rate, burst, 'retry-after')
      const { seconds, refused } = await ask(server, burst + rate * SECONDS, { latencyMs, seed })
      expect(seconds / SECONDS).toBeLessThanOrEqual(1.13)
      expect(refused).toBeLessThanOrEqual(0.02)
    }
  })

  it.each(BUCKETS)(
    'of %i requests a second with burst %i is remembered for the next night',
    async (rate, burst) => {
      const count = burst + rate * SECONDS
      const night = 86_400_000
      const startsAt = Date.parse('2026-03-10T06:00:00Z')
      const times: number[] = []
      for (const seed of [1, 2, 3]) {
        const server = bucketServer(rate, burst, 'retry-after')
        const cold = await ask(server, count, { startsAt, seed })
        expect(cold.learned.limit?.source).toBe('refusals')
        expect(cold.learned.limit?.rate).toBeGreaterThan(rate * 0.95)
        expect(cold.learned.limit?.rate).toBeLessThan(rate * 1.03)
        const warm = await ask(bucketServer(rate, burst, 'retry-after'), count, {
          learned: cold.learned,
          startsAt: startsAt + night,
          seed,
        })
        times.push(warm.seconds / SECONDS)
        expect(warm.refused).toBeLessThan(cold.refused)
      }
      const [, median] = times.toSorted((a, b) => a - b)
      expect(median).toBeLessThanOrEqual(1.04)
      expect(Math.max(...times)).toBeLessThanOrEqual(1.1)
    },
  )
})

/**
 * The nights are a fixed sample: the bounds hold for nearly all nights, not for every one. Of 1,500
 * first nights without headers, three had 1.2 % of their requests refused.
 */
const SAMPLE = 20_260_310

/** The requests of a first night for 40 users and a history of 312 days. */
const FIRST_NIGHT = 331

describe('a first night at 20 requests a second with burst 5', () => {
  const ideal = (FIRST_NIGHT - 5) / 20
  const night = 86_400_000
  const noon = Date.parse('2026-03-10T06:00:00Z')

  it.each(STYLES)(
    'takes at most 1.25 times the ideal, 1.10 once learned, with at most one in a hundred refused (header style %s)',
    async (style) => {
      const lines = fc.record({
        seed: fc.integer({ min: 1, max: 1_000_000 }),
        latency: fc.integer({ min: 1, max: 10 }),
        offset: fc.integer({ min: 0, max: 999 }),
      })
      await fc.assert(
        fc.asyncProperty(lines, async ({ seed, latency, offset }) => {
          const options = { seed, latencyMs: () => latency, startsAt: noon + offset }
          const cold = await ask(bucketServer(20, 5, style), FIRST_NIGHT, options)
          expect(cold.seconds / ideal).toBeLessThanOrEqual(1.25)
          expect(cold.refused).toBeLessThanOrEqual(0.01)
          const later = { ...options, startsAt: options.startsAt + night, learned: cold.learned }
          const learned = await ask(bucketServer(20, 5, style), FIRST_NIGHT, later)
          expect(learned.seconds / ideal).toBeLessThanOrEqual(1.1)
          expect(learned.refused).toBeLessThanOrEqual(0.01)
        }),
        { numRuns: 12, seed: SAMPLE },
      )
    },
  )
})

describe('a rate limit that changes', () => {
  const startsAt = Date.parse('2026-03-10T06:00:00Z')
  const after = (seconds: number, before: number, then: number) => (now: number) =>
    now < startsAt + seconds * 1000 ? before : then

  it.each<[string, number, number]>([
    ['halves', 50, 30],
    ['falls to a tenth', 10, 90],
  ])('is used and kept again when it %s', async (_, then, seconds) => {
    const server = bucketServer(after(10, 100, then), 50, 'retry-after')
    const figures = await ask(server, 50 + 1000 + then * seconds, { startsAt })
    expect(figures.seconds / (10 + seconds)).toBeLessThanOrEqual(1.15)
    expect(figures.refused).toBeLessThanOrEqual(0.01)
  })

  it('is learned again within minutes when it doubles', async () => {
    const server = bucketServer(after(10, 50, 100), 50, 'retry-after')
    const figures = await ask(server, 50 + 500 + 100 * 290, { startsAt })
    expect(figures.learned.limit?.rate).toBeGreaterThan(90)
    expect(figures.seconds / 300).toBeLessThanOrEqual(1.3)
  })

  it.each<[string, number, number]>([
    ['at twice its rate', 100, 50],
    ['at ten times its rate', 500, 50],
    ['with a burst ten times too large', 50, 500],
    ['with a burst ten times too small', 50, 5],
  ])('is learned although it was remembered %s', async (_, rate, burst) => {
    const measuredAt = startsAt - 86_400_000
    const learned: Learned = {
      limit: { rate, burst, source: 'refusals', measuredAt },
      concurrency: 8,
    }
    const server = bucketServer(50, 50, 'retry-after')
    const figures = await ask(server, 50 + 50 * SECONDS, { startsAt, learned })
    expect(figures.seconds / SECONDS).toBeLessThanOrEqual(1.13)
    expect(figures.refused).toBeLessThanOrEqual(0.01)
  })

  it('follows the headers of a server that allows more than is remembered', async () => {
    const measuredAt = startsAt - 86_400_000
    const limit = { rate: 5, burst: 5, source: 'refusals', measuredAt } as const
    const server = bucketServer(50, 50, 'x-delta')
    const learned: Learned = { limit, concurrency: 8 }
    const figures = await ask(server, 50 + 50 * SECONDS, { startsAt, learned })
    expect(figures.seconds / SECONDS).toBeLessThanOrEqual(1.1)
  })

  it.each([
    ['after a week', -8],
    ['if a run whose clock was ahead measured it', 300],
  ])('is forgotten %s', async (_, days) => {
    const measuredAt = startsAt + days * 86_400_000
    const limit = { rate: 5, burst: 5, source: 'refusals', measuredAt } as const
    const server = bucketServer(50, 50, 'retry-after')
    const learned: Learned = { limit, concurrency: 8 }
    const figures = await ask(server, 50 + 50 * SECONDS, { startsAt, learned })
    expect(figures.seconds / SECONDS).toBeLessThanOrEqual(1.1)
  })
})

describe('a rate limit in fixed windows of the clock', () => {
  const startsAt = Date.parse('2026-03-10T06:00:00Z')

  it.each<[Style, number, number, number, number]>([
    ['ratelimit', 100, 60_000, 1.03, 0],
    ['x-delta', 1000, 60_000, 1.03, 0],
    ['x-epoch', 30, 10_000, 1.05, 0],
    ['x-epoch', 10, 1000, 1.4, 0],
    ['x-delta', 60, 1000, 1.4, 0],
    ['retry-after', 100, 60_000, 1.03, 0.03],
    ['retry-after', 10, 1000, 1.4, 0.02],
    ['none', 100, 60_000, 1.5, 0.2],
  ])(
    'with header style %s: %i requests per %i ms is used and kept',
    async (style, limit, windowMs, slower, most) => {
      const windows = Math.max(3, Math.ceil(20_000 / windowMs))
      const server = windowServer(limit, windowMs, style)
      const { seconds, refused } = await ask(server, limit * windows, { startsAt })
      expect(seconds).toBeLessThanOrEqual(((windows * windowMs) / 1000) * slower)
      expect(refused).toBeLessThanOrEqual(most)
    },
  )
})

describe('a server without a limit', () => {
  it('gets requests at full speed, and no limit is remembered', async () => {
    const server = (): { status: number; headers: Record<string, string> } => ({
      status: 200,
      headers: {},
    })
    const { seconds, learned } = await ask(server, 4000, { latencyMs: () => 10 })
    expect(4000 / seconds).toBeGreaterThan(600)
    expect(learned).toEqual({ limit: null, concurrency: 8 })
  })

  it('leaves nothing of a limit that was learned more than a week ago', async () => {
    const startsAt = Date.parse('2026-03-10T06:00:00Z')
    const measuredAt = startsAt - 8 * 86_400_000
    const limit = { rate: 5, burst: 5, source: 'refusals', measuredAt } as const
    const server = () => ({ status: 200, headers: {} })
    const { learned } = await ask(server, 100, { startsAt, learned: { limit, concurrency: 8 } })
    expect(learned.limit).toBeNull()
  })
})

function chanceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
