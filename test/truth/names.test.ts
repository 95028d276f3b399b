import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalServer, caseFolded, cleanedToolName, cleanToolNames } from './names.ts'

describe('canonicalServer', () => {
  test.each([
    ['GitHub', 'github'],
    ['  GitHub\u3000\u0085', 'github'],
    ['\u00a0linear ', 'linear'],
    ['Cafe\u0301', 'caf\u00e9'],
    ['CAF\u00c9', 'caf\u00e9'],
    ['Stra\u00dfe', 'strasse'],
    ['STRASSE', 'strasse'],
    ['\u1e9e', 'ss'],
    ['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c3'],
    ['\u03bf\u03b4\u03bf\u03c2', '\u03bf\u03b4\u03bf\u03c3'],
    ['\u0130', 'i\u0307'],
    ['\u0131', '\u0131'],
    ['\u{10400}', '\u{10428}'],
    ['\uab70', '\u13a0'],
    ['a  b', 'a  b'],
    ['', ''],
  ])('writes %j as %j', (spelling, canonical) => {
    expect(canonicalServer(spelling)).toBe(canonical)
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(caseFolded(caseFolded(name))).toBe(caseFolded(name))
      }),
    )
  })
})

describe('cleanedToolName', () => {
  const known = cleanToolNames(['Read', ' Edit ', 'mcp__github/search', 'Größe', 'bad name', ''])

  test.each([
    ['Read', 'Read'],
    [' Read\n', 'Read'],
    ['NeverSeen', 'NeverSeen'],
    ['mcp__github/search', 'mcp__github/search'],
    ['Größe', 'Größe'],
    ['a:b.c/d@e-f', 'a:b.c/d@e-f'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['"Read"', 'Read'],
    ['<tool>Read</tool>', 'Read'],
    ['< "Read', 'Read'],
    ['Read</parameter>', 'Read'],
    ['Read{"path":"x"}', 'Read'],
    ['Edit with words', 'Edit'],
    ['NeverSeen</tool>', '(unparsed)'],
    ['bad name', '(unparsed)'],
    ['Reading {', '(unparsed)'],
    ['x'.repeat(129), '(unparsed)'],
    ['9Read', '(unparsed)'],
    ['{"name":"Read"}', '(unparsed)'],
    ['<tool>', '(unparsed)'],
    ['', '(unparsed)'],
    ['   ', '(unparsed)'],
    ['(unparsed)', '(unparsed)'],
  ])('turns %j into %j', (served, name) => {
    expect(cleanedToolName(served, known)).toBe(name)
  })
})
