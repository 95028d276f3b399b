import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstFieldOf, parseExactly } from '../../src/lib/json.ts'

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

describe('a field of a text', () => {
  it.each([
    ['{"a":1,"a":2}', 1],
    ['{ "b" : {"a":5} , "a" : [1, "}"], "a":2 }', [1, '}']],
    [String.raw`{"b":"\"a\":3","a":null,"a":2}`, null],
    ['{"b":{"a":1,"a":2},"c":"a"}', undefined],
    ['{"b":true,"c":["a"],"d":-1.5e3 ,"a":"x"}', 'x'],
    ['[{"a":1,"a":2}]', undefined],
  ])('is the first value of its name in %s', (text, expected) => {
    expect(firstFieldOf(text, 'a')).toEqual(expected)
  })

  it('is what JSON.parse reads, where no name occurs twice', () => {
    const objects = fc.dictionary(fc.constantFrom('a', 'b', '"a"', 'é'), fc.jsonValue())
    fc.assert(
      fc.property(objects, fc.constantFrom(0, 2), (object, indent) => {
        const text = JSON.stringify(object, null, indent)
        expect(firstFieldOf(text, 'a')).toEqual(object['a'])
      }),
    )
  })
})
