import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  faded,
  rangeOf,
  rememberedBucket,
  unknownBucket,
  withRequest,
  type Bucket,
} from '../../src/client/rate-limit/limit-estimator.ts'

interface Asked {
  readonly seen: Bucket
  readonly tokens: number
  readonly at: number
}

/** Asks a bucket of that rate and size `asked` times a second until it refuses. */
function untilRefused(rate: number, burst: number, asked: number, before: Asked): Asked {
  let { seen, tokens, at } = before
  for (;;) {
    seen = withRequest(seen, at, tokens < 1)
    if (tokens < 1) return { seen, tokens, at }
    tokens = Math.min(burst, tokens - 1 + rate / asked)
    at += 1000 / asked
  }
}

describe('a bucket', () => {
  it('is measured by two refusals, at whatever rate it is refilled', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 5, max: 500, noNaN: true }),
        fc.integer({ min: 2, max: 100 }),
        fc.double({ min: 1.1, max: 2, noNaN: true }),
        (rate, burst, over) => {
          const start = { seen: unknownBucket(0), tokens: burst, at: 0 }
          const first = untilRefused(rate, burst, rate * 20, start)
          expect(rangeOf(first.seen).low).toBeLessThan(0.1)
          const restedAt = first.at + (burst / rate) * 1000
          const rested = { ...first, tokens: burst, at: restedAt }
          const second = untilRefused(rate, burst, rate * over, rested)
          const { low, high } = rangeOf(second.seen)
          // A count is wrong by a token at most, in the time that the bucket took to empty.
          const doubt = 0.02 * rate + (2 * 1000) / (second.at - restedAt)
          expect(low).toBeLessThanOrEqual(rate * 1.02)
          expect(high).toBeGreaterThanOrEqual(rate * 0.98)
          expect(high - low).toBeLessThanOrEqual(2 * doubt)
        },
      ),
      // It takes 1,067 requests until the second refusal: rates between two candidates count.
      { examples: [[6.324296589944523, 98, 1.1]] },
    )
  })

  it('is remembered until it is contradicted', () => {
    const seen = rememberedBucket(20, 5, 0.02, 0)
    expect(rangeOf(seen).low).toBeGreaterThan(19.5)
    expect(rangeOf(seen).high).toBeLessThan(20.5)
    const refused = untilRefused(5, 5, 20, { seen, tokens: 5, at: 0 })
    expect(rangeOf(faded(refused.seen)).low).toBeLessThan(10)
  })

  it.each([0.001, 1e6])('is remembered where its rate (%d) is none that is reckoned', (rate) => {
    const { low, high } = rangeOf(rememberedBucket(rate, 5, 0.02, 0))
    expect(high / low).toBeLessThan(1.05)
  })
})
