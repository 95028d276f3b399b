import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sliceEnvelope } from '../../src/client/json/envelope.ts'

const texts = (text: string): string[] => sliceEnvelope(text).rows.map((row) => row.text)

describe('law 1: the split of an analytics response into rows', () => {
  it.each([
    [
      'integers beyond 2^53',
      '{"data":[{"n":9007199254740993}],"meta":{}}',
      ['{"n":9007199254740993}'],
    ],
    [
      'number spellings',
      '{"data":[{"a":1.0,"b":1e3,"c":0.1000}]}',
      ['{"a":1.0,"b":1e3,"c":0.1000}'],
    ],
    ['escapes', String.raw`{"data":[{"a":"\u00e9\"]}\\"}]}`, [String.raw`{"a":"\u00e9\"]}\\"}`]],
    [
      'white space inside rows',
      '{ "data" : [ {"a" : 1 } ,\n {"a":\t2} ] }',
      ['{"a" : 1 }', '{"a":\t2}'],
    ],
    ['nested data', '{"meta":{"data":[1]},"data":[{"data":[{"x":[]}]}]}', ['{"data":[{"x":[]}]}']],
    ['an escaped key', String.raw`{"d\u0061ta":[1]}`, ['1']],
    ['no rows', '{"data":[],"meta":{"has_more":false}}', []],
  ])('keeps %s as served', (_, text, rows) => {
    expect(texts(text)).toEqual(rows)
  })

  it('keeps the fields besides the rows', () => {
    const { rest } = sliceEnvelope('{"data":[{"a":1}],"meta":{"org_id":"o","has_more":true}}')
    expect(rest).toEqual({ data: [], meta: { org_id: 'o', has_more: true } })
  })

  it.each([
    '',
    '<html>',
    '[]',
    '{}',
    '{"data":{}}',
    '{"data":[{"a":1}',
    '{"data":[{"a":1}]',
    '{"data":[{"a":1},]}',
    '{"data":[{"a":1} {"a":2}]}',
    '{"data":[{"a":tru}]}',
    '{"data":[1]}x',
    '{"data":[1] "meta":1}',
    '{"data":[1],"data":2}',
    '{"data":[1],"data":[2,3]}',
    '{"data":2,"data":[1',
    '{"data":[,1]}',
    '{"data":[1,,2]}',
    '{"data":[1],}',
    '{,"data":[1]}',
    '{"data" [1]}',
    '{"data":[1]}}',
    '{"data":[{"a":[}]}]}',
    '{"meta":{"a":tru},"data":[1]}',
    '{"meta":1 2,"data":[1]}',
    '{"data":[1],"meta":tr ue}',
  ])('refuses %j', (text) => {
    expect(() => sliceEnvelope(text)).toThrow(SyntaxError)
  })

  it('agrees with JSON.parse on every document, with any white space', () => {
    const row = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(
        fc.array(row),
        fc.jsonValue(),
        fc.constantFrom('', ' ', '\n\t'),
        (rows, meta, gap) => {
          const data = rows.map((each) => JSON.stringify(each, null, gap)).join(`${gap},${gap}`)
          const text = `${gap}{${gap}"meta"${gap}:${JSON.stringify(meta)},"data":${gap}[${gap}${data}${gap}]}${gap}`
          const { rows: served } = sliceEnvelope(text)
          expect(served.map((each) => each.value)).toEqual(
            (JSON.parse(text) as { data: unknown }).data,
          )
          expect(served.map((each) => each.text)).toEqual(
            rows.map((each) => JSON.stringify(each, null, gap)),
          )
        },
      ),
    )
  })

  it('refuses every truncated response', () => {
    const whole = '{"meta":{"org_id":"o"},"data":[{"a":"x,]}"},{"b":[1,{}]}],"z":1}'
    for (let end = 0; end < whole.length; end += 1) {
      expect(() => sliceEnvelope(whole.slice(0, end))).toThrow(SyntaxError)
    }
  })
})
