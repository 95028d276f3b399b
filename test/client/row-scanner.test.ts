import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RowScanner, servedRow, type KnownRows } from '../../src/client/json/row-scanner.ts'

/** The rows and other fields of a text that arrives in pieces, or the error. */
function scan(pieces: readonly string[], known?: KnownRows): unknown {
  const scanner = new RowScanner({ key: 'data' }, known)
  try {
    const rows = [...pieces.flatMap((piece) => scanner.write(piece)), ...scanner.flush()]
    return { rows: rows.map(({ text }) => text), rest: scanner.end() }
  } catch (error) {
    return error
  }
}

/** JSON with spaces, escapes and brackets within strings, whole or cut off. */
const answer = fc
  .record({
    before: fc.jsonValue({ maxDepth: 2 }),
    rows: fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 6 }),
    after: fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'é', ' ') }),
    gap: fc.constantFrom('', ' ', '\n\t'),
    cut: fc.option(fc.nat()),
  })
  .map(({ before, rows, after, gap, cut }) => {
    const text = JSON.stringify({ 'a"[': before, data: rows, after }, null, gap)
    return cut === null ? text : text.slice(0, cut % (text.length + 1))
  })

it('a response gives the same rows in whatever pieces it arrives', () => {
  fc.assert(
    fc.property(answer, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
      const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
      const pieces = [...ends, text.length].map((end, at) => text.slice(ends[at - 1] ?? 0, end))
      expect(pieces.join('')).toBe(text)
      expect(scan(pieces)).toEqual(scan([text]))
      expect(scan(text.split(/(?:)/))).toEqual(scan([text]))
    }),
  )
})

/** Rows with braces in strings, and empty objects. */
const row = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', 'a') }), fc.constant('}{')),
)

it('a complete response gives the same rows, each parsed', () => {
  fc.assert(
    fc.property(fc.array(row), fc.constantFrom('', ' '), fc.nat(), (rows, gap, cut) => {
      const whole = JSON.stringify({ data: rows, meta: {} }, null, gap)
      for (const text of [whole, whole.slice(0, cut % whole.length)]) {
        const scanner = new RowScanner({ key: 'data' })
        const read = (): unknown => ({ rows: scanner.readWhole(text), rest: scanner.end() })
        const { rows: texts, rest } = scan([text]) as { rows?: string[]; rest?: unknown }
        if (texts === undefined) expect(read).toThrow(SyntaxError)
        else expect(read()).toEqual({ rows: texts.map(servedRow), rest })
      }
    }),
  )
})

it('a row is passed on as soon as it is complete', () => {
  const scanner = new RowScanner({ key: 'data' })
  const read = (text: string): string[] => scanner.write(text).map((row) => row.text)
  expect(read('{"data": [{"a":"]')).toEqual([])
  expect(read('}"},12')).toEqual(['{"a":"]}"}'])
  expect(read('3,"x')).toEqual(['123'])
  expect(read('"]')).toEqual(['"x"'])
  expect(scanner.write('}')).toEqual([])
  expect(scanner.end()).toEqual({ data: [] })
})

it('an error names the position of the wrong character', () => {
  const scanner = new RowScanner({ key: 'data' })
  scanner.write('{"data":[1')
  expect(() => scanner.write('  2')).toThrow(`unexpected "2" at character 12 of the answer`)
})

const BEGINNING = /^\{ ?"day" ?: ?"/

/** Knows these rows, and guesses that every row that begins with a day is one of them. */
const knowing = (texts: readonly string[]): KnownRows => ({
  beginningOf: (text, at) => BEGINNING.exec(text.slice(at, at + 16))?.[0],
  has: (text) => texts.includes(text),
})

/** Rows that begin with their day, and contain text like the beginning of another row. */
const dayRow = fc
  .record({
    day: fc.constantFrom('1', '2', '}'),
    of: fc.array(
      fc.oneof(
        fc.constant({ day: '},{"day":"' }),
        fc.record({ day: fc.jsonValue({ maxDepth: 2 }) }),
      ),
      { maxLength: 3 },
    ),
  })
  .map(({ day, of }) => ({ day, of }))

it('known rows are recognised in whatever pieces they arrive, and the result is the same', () => {
  const rows = fc.array(fc.oneof({ weight: 4, arbitrary: dayRow }, fc.jsonValue({ maxDepth: 2 })))
  const gaps = fc.constantFrom('', ' ', '\n')
  fc.assert(
    fc.property(rows, gaps, fc.array(fc.nat()), fc.nat(), fc.nat(4), (all, gap, cuts, cut, nth) => {
      const data = all.map((each) => JSON.stringify(each))
      const whole = `{"data":[${data.join(`${gap},${gap}`)}${gap}],"more":[{"day":"1"}]}`
      const known = knowing(data.filter((_, at) => at % 5 !== nth))
      const other = `${whole.slice(0, cut % whole.length)}"${whole.slice(cut % whole.length)}`
      for (const text of [whole, whole.slice(0, cut % whole.length), other]) {
        const ends = [...new Set(cuts.map((end) => end % text.length))].sort((a, b) => a - b)
        const pieces = [...ends, text.length].map((end, at) => text.slice(ends[at - 1] ?? 0, end))
        expect(scan(pieces, known)).toEqual(scan([text]))
        expect(scan(text.split(/(?:)/), known)).toEqual(scan([text]))
      }
    }),
    { numRuns: 300 },
  )
})

it('a row is recognised by its whole text, once the next row begins', () => {
  const rows = ['{"day":"1","n":[1,{}]}', '{"day":"2"}', '{"day":"3"}']
  const scanner = new RowScanner({ key: 'data' }, knowing(rows))
  expect(scanner.write(`{"data":[${rows[0] ?? ''} , {"da`)).toEqual([])
  expect(scanner.write('y":"2","n":"')).toEqual([{ text: rows[0], isKnown: true }])
  expect(scanner.write('"},{"day":"3"')).toEqual([{ text: '{"day":"2","n":""}', isKnown: false }])
  expect(scanner.write('}]')).toEqual([])
  expect(scanner.write('}')).toEqual([])
  expect(scanner.flush()).toEqual([{ text: rows[2], isKnown: false }])
  expect(scanner.end()).toEqual({ data: [] })
})
