import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Json, exactNumber, parseExact } from './exact-json.ts'
import { entries } from './reading.ts'

describe('exactNumber', () => {
  test.each<[string, number | bigint]>([
    ['0', 0],
    ['-12', -12],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['9007199254740993.0', 9007199254740993n],
    ['9007199254740993.000', 9007199254740993n],
    ['12.0', 12],
    ['12.00e0', 12],
    ['1e3', 1000],
    ['1.2E+1', 12],
    ['1200e-2', 12],
    ['-1200e-2', -12],
    ['12.5', 12.5],
    ['-0.25', -0.25],
    ['0.1000', 0.1],
    ['0.0', 0],
    ['0e999', 0],
    ['1e-7', 1e-7],
    ['1e22', 10_000_000_000_000_000_000_000n],
  ])('reads %s as %s', (token, value) => {
    expect(exactNumber(token)).toBe(value)
  })

  test('keeps every integer exactly, however large', () => {
    fc.assert(
      fc.property(fc.bigInt(), (value) => {
        expect(BigInt(exactNumber(String(value)))).toBe(value)
        expect(BigInt(exactNumber(`${value}.0`))).toBe(value)
      }),
    )
  })
})

describe('parseExact', () => {
  test('keeps the order of keys, also of keys that look like numbers', () => {
    const parsed = parseExact('{"b":1,"10":2,"a":3,"2":4}')
    expect(parsed instanceof Map ? [...parsed.keys()] : parsed).toEqual(['b', '10', 'a', '2'])
  })

  test('keeps the last of two equal keys, as JSON.parse does', () => {
    expect(plain(parseExact('{"a":1,"a":2}'))).toEqual({ a: 2 })
  })

  test('keeps a key named __proto__', () => {
    expect(parseExact('{"__proto__":1}')).toEqual(new Map([['__proto__', 1]]))
  })

  test('keeps a big integer inside of rows', () => {
    const parsed = parseExact('{"data":[{"billable_tokens":9007199254740993}]}')
    expect(parsed).toEqual(new Map([['data', [new Map([['billable_tokens', 9007199254740993n]])]]]))
  })

  test('equals JSON.parse wherever JSON.parse is exact', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(plain(parseExact(text))).toEqual(plainNumbers(JSON.parse(text)))
      }),
    )
  })

  test('reads any JSON text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseExact(JSON.stringify(text))).toBe(text)
        const escaped = text.replace(/[^]/g, (char) => `\\u${hex(char)}`)
        expect(parseExact(`"${escaped}"`)).toBe(text)
      }),
    )
  })

  test.each([
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    '{"a" 1}',
    "{'a':1}",
    '01',
    '1.',
    '.5',
    '+1',
    '-',
    'NaN',
    'nul',
    'truex',
    '"a',
    '"\\x"',
    '"\\u12g4"',
    '"line\nbreak"',
    '1 2',
    '[1 2]',
  ])('refuses %j, as JSON.parse does', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError)
    expect(() => void JSON.parse(text)).toThrow(SyntaxError)
  })

  test('reports where it stopped', () => {
    expect(() => parseExact('{"a": x}')).toThrow("JSON has an unexpected 'x}' at offset 6")
    expect(() => parseExact('[1')).toThrow('JSON ends too early, at offset 2')
  })
})

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0')
}

/** Maps as entries, integers as text: one shape for both parsers. */
function plain(json: Json): unknown {
  if (json instanceof Map)
    return fromEntries(entries(json).map(([key, value]) => [key, plain(value)]))
  if (Array.isArray(json)) return json.map(plain)
  return typeof json === 'bigint' ? Number(json) : positiveZero(json)
}

function plainNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainNumbers)
  if (typeof value === 'object' && value !== null) {
    return fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item)]))
  }
  return positiveZero(value)
}

function fromEntries(entries: readonly [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(entries)
}

function positiveZero(value: unknown): unknown {
  return value === 0 ? 0 : value
}
