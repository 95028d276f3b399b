import { describe, expect, it } from 'vitest'
import { readYamlText, YamlError } from '../../src/lib/yaml.ts'

const TEXT = `# a comment
name: a
"models":
  - name: first
    columns: [id, { name: day,
      type: date }]

  - name: second
    empty:
    items: [&one 1, !!str 2]
    description: |
      name: not a key
copy: &copy { a: 1 }
again: *copy
`

describe('the line of a path in a YAML text', () => {
  it.each([
    [['name'], 2],
    [['models'], 3],
    [['models', 0], 4],
    [['models', 0, 'columns'], 5],
    [['models', 0, 'columns', 0], 5],
    [['models', 0, 'columns', 1, 'type'], 6],
    [['models', 1], 8],
    [['models', 1, 'empty'], 9],
    [['models', 1, 'items', 0], 10],
    [['models', 1, 'items', 1], 10],
    [['models', 1, 'description'], 11],
    [['copy', 'a'], 13],
    [['again'], 14],
  ])('is that of the key or item: %j on line %i', (path, line) => {
    expect(readYamlText(TEXT).lineOf(path)).toBe(line)
  })

  it.each([
    [['models', 1, 'unknown', 'deeper'], 8],
    [['again', 'a'], 14],
    [['unknown'], undefined],
    [[], undefined],
  ])('is that of the deepest part that exists: %j on line %o', (path, line) => {
    expect(readYamlText(TEXT).lineOf(path)).toBe(line)
  })
})

it('the line of an empty item is that of its list', () => {
  expect(readYamlText('list:\n  -\n  - a\n').lineOf(['list', 0])).toBe(1)
})

describe('a YAML text', () => {
  it.each([
    ['', undefined],
    ['# nothing\n', undefined],
    ['~', null],
    [
      '{ day: 2026-01-31, yes: yes, octal: 0o17, float: 1e3, merge: { <<: { a: 1 } } }',
      {
        day: '2026-01-31',
        yes: 'yes',
        octal: 15,
        float: 1000,
        merge: { '<<': { a: 1 } },
      },
    ],
    ['__proto__: { polluted: true }', JSON.parse('{ "__proto__": { "polluted": true } }')],
  ])('%j is read by the core schema of YAML 1.2', (text, value) => {
    expect(readYamlText(text).value).toStrictEqual(value)
  })

  it.each([
    ['a: 1\na: 2\n', 'duplicated mapping key', 2, 1],
    ['a: [1, 2\n', 'deficient indentation', 2, 1],
    ['a: 1\n---\nb: 2\n', 'the file has several documents, but must be one', undefined, undefined],
  ])('%j is refused with its place', (text, message, line, column) => {
    const read = (): unknown => readYamlText(text)
    expect(read).toThrow(YamlError)
    expect(read).toThrow(expect.objectContaining({ message, line, column }))
  })

  it.each([
    ['a: *hidden!value', 'unidentified alias'],
    ['a: !hidden value', 'unknown scalar tag'],
    ['a: !h!hidden value', 'undeclared tag handle'],
  ])('%j is refused without quoting it', (text, message) => {
    expect(() => readYamlText(text)).toThrow(expect.objectContaining({ message }))
  })

  it('with more aliases than a person writes is refused', () => {
    const text = `a: &a [1]\nb: [${'*a, '.repeat(101)}]\n`
    expect(() => readYamlText(text)).toThrow(YamlError)
  })
})
