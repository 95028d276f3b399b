import { expect, test } from 'vitest'
import { columnType } from '../../src/serve/cells.ts'

test.each([
  ['BIGINT', { kind: 'integer' }],
  ['UHUGEINT', { kind: 'integer' }],
  ['DECIMAL(18,3)', { kind: 'decimal' }],
  ['TIMESTAMP WITH TIME ZONE', { kind: 'timestamp' }],
  ["ENUM('a[]', 'b,)')", { kind: 'text' }],
  ['SOMETHING NEW', { kind: 'text' }],
  ['BIGINT[3][]', { kind: 'list', item: { kind: 'list', item: { kind: 'integer' } } }],
  [
    'MAP(VARCHAR, DECIMAL(4,2))',
    { kind: 'map', key: { kind: 'text' }, value: { kind: 'decimal' } },
  ],
])("DuckDB's %s is read", (name, type) => {
  expect(columnType(name)).toEqual(type)
})

test('the members of a struct keep names with quotes, commas and brackets', () => {
  expect(
    columnType(`STRUCT("a, ""b"" (c" BIGINT, "e" ENUM('x, y'), "l" STRUCT("n" DOUBLE)[])`),
  ).toEqual({
    kind: 'struct',
    members: new Map([
      ['a, "b" (c', { kind: 'integer' }],
      ['e', { kind: 'text' }],
      [
        'l',
        { kind: 'list', item: { kind: 'struct', members: new Map([['n', { kind: 'float' }]]) } },
      ],
    ]),
  })
})
