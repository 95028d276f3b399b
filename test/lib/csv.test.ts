import { expect, it } from 'vitest'
import { utf8Text } from '../../src/lib/csv.ts'

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
