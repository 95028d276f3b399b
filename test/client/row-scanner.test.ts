import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RowScanner, servedRow } from '../../src/client/json/envelope.ts'

/** What comes of a text that comes in pieces: its rows and what stands beside them, or the error. */
function scan(pieces: readonly string[]): unknown {
  const scanner = new RowScanner({ key: 'data' })
  try {
    const rows = pieces.flatMap((piece) => scanner.write(piece))
    return { rows, rest: scanner.end() }
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
  const read = (text: string): string[] => scanner.write(text)
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
  expect(() => scanner.write('  2')).toThrow(`unexpected "2" at character 12 of the response`)
})
