import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RowsDigest } from '../../../src/extract/land/row-lines.ts'

function digestOf(rows: readonly string[]): string {
  const digest = new RowsDigest()
  for (const row of rows) digest.add(row)
  return digest.value()
}

const rows = fc.array(fc.string())

describe('the digest of rows', () => {
  it('does not depend on their order', () => {
    fc.assert(
      fc.property(rows, (some) => {
        expect(digestOf(some.toReversed())).toBe(digestOf(some))
      }),
    )
  })

  it('changes when a row changes, is added, removed or repeated', () => {
    fc.assert(
      fc.property(rows, fc.string(), fc.string(), (some, a, b) => {
        fc.pre(a !== b)
        expect(digestOf([...some, a])).not.toBe(digestOf([...some, b]))
        expect(digestOf([...some, a])).not.toBe(digestOf(some))
        expect(digestOf([...some, a, a])).not.toBe(digestOf([...some, a]))
        expect(digestOf([...some, a, a])).not.toBe(digestOf([...some, b, b]))
      }),
    )
  })

  it('is 64 hexadecimal characters, even for no rows', () => {
    expect(digestOf([])).toMatch(/^[0-9a-f]{64}$/)
  })
})
