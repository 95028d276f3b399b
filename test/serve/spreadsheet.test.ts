import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defusedSql } from '../../src/serve/cells.ts'
import { defused } from '../../src/serve/spreadsheet.ts'
import { Database, type Cell } from '../../src/lib/duckdb.ts'

const PARTS = [
  '=',
  '+',
  '-',
  '@',
  '＝',
  '\t',
  '\r',
  '\n',
  ' ',
  '\u00a0',
  '\u200b',
  '\ufeff',
  'a',
  '1',
  "'",
]

test.each([
  '=cmd',
  '+1',
  '-1',
  '@x',
  '\t=1',
  '\r=1',
  '\tx',
  '  =1',
  '\u00a0=1',
  '\ufeff=1',
  '\n-1',
  '＝1',
])('%j gets an apostrophe', (text) => {
  expect(defused(text)).toBe(`'${text}`)
})

test.each(['', 'a=1', '1-1', 'x@y.z', '(=1)', "'=1", ' x', '\u2212'])('%j is unchanged', (text) => {
  expect(defused(text)).toBe(text)
})

function fromJson(cell: Cell | undefined): unknown {
  return typeof cell === 'string' ? JSON.parse(cell) : cell
}

test('the SQL and the JavaScript implementation treat the same texts as formulas', async () => {
  const database = await Database.open(':memory:')
  const texts = fc.array(fc.array(fc.constantFrom(...PARTS), { maxLength: 5 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(texts, async (drawn) => {
      const given = drawn.map((parts) => parts.join(''))
      const list = `unnest(from_json($texts, '["varchar"]')) as text`
      // As JSON, because the library drops a byte order mark that a text begins with.
      const sql = `select to_json(${defusedSql('text')}) as safe from (select ${list})`
      const rows = await database.rows(sql, { texts: JSON.stringify(given) })
      const safe = rows.map((row) => fromJson(row['safe']))
      expect(safe).toEqual(given.map(defused))
    }),
  )
  database.close()
})
