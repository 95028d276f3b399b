import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { oneLine, safeText } from '../../src/lib/text.ts'

describe('text for a terminal', () => {
  test.each([
    ['a colour', '\u001b[31mred', String.raw`\u001b[31mred`],
    ['the title of the window', '\u001b]0;owned\u0007', String.raw`\u001b]0;owned\u0007`],
    ['a C1 control', '\u009b2J', String.raw`\u009b2J`],
    ['a carriage return', 'safe\rEVIL', String.raw`safe\u000dEVIL`],
    ['a backspace and a delete', 'a\bb\u007f', String.raw`a\u0008b\u007f`],
    ['an override of the direction', 'a\u202egpj.exe', String.raw`a\u202egpj.exe`],
    ['an isolate', '\u2066a\u2069', String.raw`\u2066a\u2069`],
    ['marks of direction', 'a\u200e\u200f\u061c', String.raw`a\u200e\u200f\u061c`],
    ['what takes no room', 'a\u200bb\u2060c\ufeff', String.raw`a\u200bb\u2060c\ufeff`],
    ['a joiner in ASCII', 'pay\u200dpal', String.raw`pay\u200dpal`],
    ['a soft hyphen', 'a\u00adb', String.raw`a\u00adb`],
    ['a tag', 'a\u{e0041}', String.raw`a\udb40\udc41`],
    ['half a surrogate', 'a\ud800', String.raw`a\ud800`],
    ['an end of a line for some', 'a\u2028b', String.raw`a\u2028b`],
  ])('%s is escaped', (_, text, escaped) => {
    expect(safeText(text)).toBe(escaped)
  })

  test.each(['two\nlines\tand a tab\r\n', 'Zoë 東京 👩‍💻 नमस्‍ते می‌خواهم', '│ ─ … ×'])(
    'readable text is unchanged: %j',
    (text) => {
      expect(safeText(text)).toBe(text)
    },
  )

  test('JSON keeps its value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const safe = safeText(JSON.stringify({ [value]: value }))
        expect(JSON.parse(safe)).toEqual({ [value]: value })
        expect(safeText(safe)).toBe(safe)
      }),
    )
  })

  test('on one line, line breaks become spaces', () => {
    expect(oneLine('first\r\nsecond\u001b[2J\u202e\u200b!')).toBe('first second [2J !')
  })
})
