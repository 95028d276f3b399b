import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { apportion, createPicker, draw, mix } from '../../src/emulator/random.ts'

const weights = fc.array(fc.double({ min: 0.001, max: 1_000, noNaN: true }), { minLength: 1 })

describe('apportion', () => {
  it('gives non-negative integers that add up to the total', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), weights, (total, shares) => {
        const parts = apportion(total, shares)
        expect(parts).toHaveLength(shares.length)
        expect(parts.every((part) => Number.isInteger(part) && part >= 0)).toBe(true)
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total)
      }),
    )
  })

  it('follows the weights to within one', () => {
    expect(apportion(100, [1, 1, 2])).toEqual([25, 25, 50])
    expect(apportion(1, [5, 5])).toEqual([0, 1])
  })
})

describe('createPicker', () => {
  it.each([
    [0, 0],
    [0.24, 0],
    [0.25, 2],
    [0.999, 2],
  ])('a draw of %d picks index %i of the weights 1, 0, 3', (unit, index) => {
    expect(createPicker([1, 0, 3])(unit)).toBe(index)
  })

  it('picks a valid index for any weights', () => {
    const unit = fc.nat(999_999).map((millionths) => millionths / 1e6)
    fc.assert(
      fc.property(weights, unit, (shares, value) => {
        expect(shares[createPicker(shares)(value)]).toBeDefined()
      }),
    )
  })
})

describe('draws', () => {
  it('lie in [0, 1) and depend on the key and the stream only', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.nat(100), (key, stream) => {
        const value = draw(key, stream)
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThan(1)
        expect(draw(key, stream)).toBe(value)
      }),
    )
  })

  it('are spread evenly', () => {
    const values = Array.from({ length: 20_000 }, (_, key) => draw(mix(key), 7))
    const tenths = Array.from(
      { length: 10 },
      (_, tenth) => values.filter((value) => Math.floor(value * 10) === tenth).length,
    )
    for (const count of tenths) expect(count / 2_000).toBeCloseTo(1, 1)
  })

  it('distinct inputs stay distinct when mixed', () => {
    const mixed = new Set(Array.from({ length: 100_000 }, (_, value) => mix(value)))
    expect(mixed.size).toBe(100_000)
  })
})
