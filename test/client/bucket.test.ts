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

/** Sends `asked` requests a second to a bucket until it refuses one. */
function untilRefused(rate: number, burst: number, asked: number, before: Asked): Asked {
  let { seen, tokens, at } = before
  for (;;) {
    seen = withRequest(seen, at, tokens < 1)
    if (tokens < 1) return { seen, tokens, at }
    tokens = Math.min(burst, tokens - 1 + rate / asked)
    at += 1000 / asked
  }
}

describe('the estimate of a token bucket', () => {
  it('is accurate after two refusals, at any refill rate', () => {
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
          // A count is wrong by at most a token in the time that the bucket took to empty.
          const tolerance = 0.02 * rate + (2 * 1000) / (second.at - restedAt)
          expect(low).toBeLessThanOrEqual(rate * 1.02)
          expect(high).toBeGreaterThanOrEqual(rate * 0.98)
          expect(high - low).toBeLessThanOrEqual(2 * tolerance)
        },
      ),
      // The second refusal comes after 1,067 requests: a rate between two candidates matters.
      { examples: [[6.324296589944523, 98, 1.1]] },
    )
  })

  it('is remembered until refusals contradict it', () => {
    const seen = rememberedBucket(20, 5, 0.02, 0)
    expect(rangeOf(seen).low).toBeGreaterThan(19.5)
    expect(rangeOf(seen).high).toBeLessThan(20.5)
    const refused = untilRefused(5, 5, 20, { seen, tokens: 5, at: 0 })
    expect(rangeOf(faded(refused.seen)).low).toBeLessThan(10)
  })

  it.each([0.001, 1e6])('is remembered at a rate (%d) outside the estimated range', (rate) => {
    const { low, high } = rangeOf(rememberedBucket(rate, 5, 0.02, 0))
    expect(high / low).toBeLessThan(1.05)
  })
})
