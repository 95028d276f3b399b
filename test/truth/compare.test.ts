import { describe, expect, test } from 'vitest'
import { compare } from './compare.ts'
import { anyOf, type Expected, expectedTable } from './table.ts'

const DAY = '2026-02-01'

/** The differences of one cell. */
function cell(expected: Expected, actual: unknown): string[] {
  return compare(expectedTable(['day'], ['value'], [{ day: DAY, value: expected }]), [
    { day: DAY, value: actual },
  ])
}

describe('the comparison with the independent rows', () => {
  test.each<[string, Expected, unknown]>([
    ['a small integer as number', 12n, 12],
    ['a big integer as text', 9007199254740993n, '9007199254740993'],
    ['a double to nine places', 0.1 + 0.2, 0.3],
    ['a double that is whole', 2, 2],
    ['a negative zero', -0, 0],
    ['NULL', null, null],
    ['a day', '2026-02-01', '2026-02-01'],
    ['a boolean', true, true],
    ['one of two values', anyOf('GitHub', 'github'), 'github'],
  ])('finds %s equal', (_, expected, actual) => {
    expect(cell(expected, actual)).toEqual([])
  })

  test.each<[string, Expected, unknown, string]>([
    ['0 where NULL must be', null, 0, 'is 0, not null'],
    ['NULL where 0 must be', 0n, null, 'is null, not 0'],
    ['an integer off by one', 9007199254740993n, '9007199254740992', 'not 9007199254740993'],
    ['an integer that was rounded', 9007199254740993n, 9007199254740992, 'not 9007199254740993'],
    ['a number that may be rounded', 9007199254740992n, 9007199254740992, 'not 9007199254740992'],
    ['a fraction where a count must be', 12n, 12.5, 'is 12.5, not 12'],
    ['a double off by more', 1, 1.00000001, 'is 1.00000001, not 1'],
    ['a double as text', 0.5, '0.5', 'is "0.5", not 0.5'],
    ['text of another case', 'a', 'A', 'is "A", not "a"'],
    ['a day with a time', DAY, `${DAY}T00:00:00Z`, `not "${DAY}"`],
    ['a number for a boolean', true, 1, 'is 1, not true'],
    ['none of two values', anyOf('a', null), 'b', 'is "b", not one of "a", null'],
  ])('tells %s', (_, expected, actual, words) => {
    const differences = cell(expected, actual)
    expect(differences).toHaveLength(1)
    expect(differences[0]).toContain(words)
  })

  test('reports missing, unexpected and duplicate rows', () => {
    const table = expectedTable(
      ['k'],
      ['v'],
      [
        { k: 'a', v: 1n },
        { k: 'b', v: 2n },
      ],
    )
    const actual = [
      { k: 'b', v: 2 },
      { k: 'b', v: 2 },
      { k: 'c', v: 3 },
    ]
    expect(compare(table, actual)).toEqual([
      '2 rows ["b"]',
      'missing row ["a"]',
      'unexpected row ["c"]',
    ])
  })

  test('reports a missing column once, and accepts more columns', () => {
    const table = expectedTable(
      ['k'],
      ['v'],
      [
        { k: 'a', v: 1n },
        { k: 'b', v: 2n },
      ],
    )
    const actual = [
      { k: 'a', more: 1 },
      { k: 'b', more: 1 },
    ]
    expect(compare(table, actual)).toEqual(['missing column v'])
  })

  test('accepts an optional row only with its values', () => {
    const table = expectedTable(['k'], ['v'], [], [{ k: 'a', v: null }])
    expect(compare(table, [])).toEqual([])
    expect(compare(table, [{ k: 'a', v: null }])).toEqual([])
    expect(compare(table, [{ k: 'a', v: 0 }])).toEqual(['v of ["a"] is 0, not null'])
  })

  test('reports at most twenty differences and how many more there are', () => {
    const rows = Array.from({ length: 50 }, (_, index) => ({ k: String(index), v: 1n }))
    const differences = compare(expectedTable(['k'], ['v'], rows), [])
    expect(differences).toHaveLength(20)
    expect(differences.at(-1)).toBe('... and 31 more')
  })

  test('distinguishes a NULL key from the word null', () => {
    const table = expectedTable(['k'], [], [{ k: 'null' }])
    expect(compare(table, [{ k: null }])).toEqual(['missing row ["null"]', 'unexpected row [null]'])
  })
})
