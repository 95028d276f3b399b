import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { burstOf, estimateRate, shapeAt, withMark, type Mark } from '../../src/client/bucket.ts'

const marked = (marks: readonly Mark[]): readonly Mark[] =>
  marks.reduce<readonly Mark[]>((all, mark) => withMark(all, mark), [])

/** What a full bucket lets through when it is asked at that rate, up to its refusal. */
function untilRefused(rate: number, burst: number, asked: number, from: Mark) {
  const marks: Mark[] = []
  let tokens = burst
  for (let count = 0; ; count += 1) {
    const mark = { at: from.at + (count * 1000) / asked, passed: from.passed + count }
    if (tokens < 1) return { marks, refusal: mark }
    marks.push(mark)
    tokens = Math.min(burst, tokens - 1 + rate / asked)
  }
}

/** Two marks: what is emptied faster is not measured. */
const LEAST_TOLD_SECONDS = 0.02

describe('a bucket', () => {
  it('is measured by two refusals, at whatever rate it is refilled', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 5, max: 500, noNaN: true }),
        fc.integer({ min: 2, max: 200 }),
        fc.double({ min: 1.1, max: 2, noNaN: true }),
        (rate, burst, over) => {
          fc.pre(burst / (rate * (over - 1)) >= LEAST_TOLD_SECONDS)
          const first = untilRefused(rate, burst, rate * 20, { at: 0, passed: 0 })
          const shape = shapeAt(marked(first.marks), first.refusal)
          const rested = { ...first.refusal, at: first.refusal.at + (burst / rate) * 1000 }
          const second = untilRefused(rate, burst, rate * over, rested)
          const current = shapeAt(marked(second.marks), second.refusal)
          const estimate = estimateRate(shape, current, first.refusal, second.refusal, 1)
          expect(Math.abs(estimate.rate - rate)).toBeLessThanOrEqual(2 * estimate.doubt)
          expect(Math.abs(burstOf(shape, rate) - burst)).toBeLessThanOrEqual(1.5)
        },
      ),
    )
  })

  it('is remembered in few marks, fine ones for what is recent', () => {
    const marks = marked(
      Array.from({ length: 100_000 }, (_, index) => ({ at: index * 10, passed: index })),
    )
    expect(marks.length).toBeLessThanOrEqual(300)
    expect(marks[0]?.at).toBe(0)
    const gaps = marks.slice(1).map((mark, index) => mark.at - (marks[index]?.at ?? 0))
    expect(gaps.slice(-10)).toEqual(Array.from({ length: 10 }, () => 10))
    for (const [index, gap] of gaps.entries()) {
      expect(gap).toBeLessThanOrEqual(20 + 0.06 * (1_000_000 - (marks[index]?.at ?? 0)))
    }
  })
})
