import { describe, expect, it } from 'vitest'
import { readCsv, recordsOf, utf8Text } from '../../src/lib/csv.ts'

it.each<[string, string, number[], number]>([
  ['the first line', '', [0xff], 1],
  ['a line after one with a replacement character', 'a\u{FFFD}\n\r\n', [0xe9], 3],
  ['a line that ends within a character', 'é\r', [0xc3, 0x0a, 0x61], 2],
  ['the last line, which ends within a character', 'é\n', [0xe2, 0x82], 2],
])('bytes that are not UTF-8 are reported with their line: in %s', (_, text, bytes, line) => {
  const file = Buffer.concat([Buffer.from(text), Buffer.from(bytes)])
  expect(() => utf8Text(file, 'a.csv')).toThrow(`a.csv:${line}: the file is not UTF-8`)
})

it('a text in UTF-8 is decoded without its byte order mark', () => {
  expect(utf8Text(Buffer.from('\u{FEFF}é\u{FFFD}'), 'a.csv')).toBe('é\u{FFFD}')
})

describe('the records of a CSV text', () => {
  it('have their first lines, whatever the line ends and quotes', () => {
    const text = 'a;b\r\n\n "x ""y""\r\nz" ; 1\r5" tall;"2"\n;\n\nlast;'
    expect(recordsOf(text, ';', 'a.csv')).toEqual([
      { line: 1, fields: ['a', 'b'] },
      { line: 3, fields: ['x "y"\r\nz', ' 1'] },
      { line: 5, fields: ['5" tall', '2'] },
      { line: 6, fields: ['', ''] },
      { line: 8, fields: ['last', ''] },
    ])
  })

  it.each(['a,b\n1,"2', 'a,b\n1,"2"3\n', 'a,b\n1,"2\n3,4\n'])(
    'end with the quote of %j',
    (text) => {
      expect(() => recordsOf(text, ',', 'a.csv')).toThrow(
        'a.csv:2: a double quote is not closed, or text follows a closing double quote',
      )
    },
  )

  it('law 13: a field of many quotes takes time in proportion to its length', () => {
    const long = `"${'""'.repeat(1_000_000)}`
    expect(() => recordsOf(`a,b\n1,${long}x"`, ',', 'a.csv')).not.toThrow()
    expect(() => recordsOf(`a,b\n1,${long}`, ',', 'a.csv')).toThrow('a.csv:2: a double quote')
    const tooLong = long.repeat(5)
    expect(() => recordsOf(`a,b\n1,${tooLong}"`, ',', 'a.csv')).toThrow('a.csv:2: a double quote')
  })
})

it('a file has its records by column, with the numbers of their lines', () => {
  const text = '\u{FEFF}Name;"Key";\n "x;\r\ny" ; b ;\n  \n\n5" tall;c'
  const { columns, lines } = readCsv(text, 'a.csv')
  expect(columns).toEqual(['name', 'key', ''])
  const [first, second] = lines
  expect(first?.fields()).toEqual({ name: 'x;\r\ny', key: 'b', '': '' })
  expect(lines.map(({ number }) => number)).toEqual([2, 6])
  expect(() => second?.fields()).toThrow('the line has 2 fields, the first line has 3')
})

it('lines of blanks and tabs are left out, also where tabs are the delimiter', () => {
  const { lines } = readCsv('a\tb\n1\t2\n\t\n \n', 'a.csv')
  expect(lines.map(({ number }) => number)).toEqual([2])
})
