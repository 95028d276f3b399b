import { expect, it } from 'vitest'
import { size } from '../../src/lib/text.ts'

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [9_940, '9.9 kB'],
  [9_960, '10 kB'],
  [999_600, '1.0 MB'],
  [1_234_567, '1.2 MB'],
  [20_000_000, '20 MB'],
  [123_456_789, '123 MB'],
  [85_899_345_920, '86 GB'],
  [1_500_000_000_000_000, '1500 TB'],
])('%i bytes are written as %s', (bytes, text) => {
  expect(size(bytes)).toBe(text)
})
