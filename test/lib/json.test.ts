import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactly } from '../../src/lib/json.ts'

describe('JSON that is shown to people', () => {
  it.each([
    ['9007199254740993', '9007199254740993'],
    ['[-9007199254740993, 9007199254740991]', ['-9007199254740993', 9007199254740991]],
    [
      '{"12345678901234567890": 1.12345678901234567890}',
      { '12345678901234567890': 1.1234567890123457 },
    ],
    ['"a \\" 12345678901234567890"', 'a " 12345678901234567890'],
    ['1e30', 1e30],
  ])('keeps every digit of the integers in %s', (text, expected) => {
    expect(parseExactly(text)).toEqual(expected)
  })

  it('may have strings of any length', () => {
    const text = JSON.stringify(['\n"'.repeat(5_000_000), 1])
    expect(JSON.stringify(parseExactly(text)) === text).toBe(true)
  })

  it('is otherwise what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const asText = (value: unknown): unknown =>
          Number.isSafeInteger(value) || !/^-?\d+$/.test(JSON.stringify(value))
            ? value
            : String(value)
        const expected: unknown = JSON.parse(text, (_, value: unknown) => asText(value))
        expect(parseExactly(text)).toEqual(expected)
      }),
    )
  })
})
