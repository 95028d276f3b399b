import fc from 'fast-check'
import { afterAll, describe, expect, test, vi } from 'vitest'
import {
  distinctNames,
  formatCsv,
  formatJson,
  formatResult,
  formatTable,
  outputFormats,
} from '../../src/serve/format.ts'
import { ask } from './support.ts'

const zone = vi.hoisted(() => {
  const before = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  return before
})

afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

async function jsonOf(expression: string): Promise<string> {
  const text = formatJson(await ask(`select ${expression} as v`))
  return text.slice('[\n{"v":'.length, -'}\n]\n'.length)
}

describe('JSON', () => {
  test.each([
    ['9007199254740991::bigint', '9007199254740991'],
    ['9007199254740992::bigint', '"9007199254740992"'],
    ['9007199254740993::bigint', '"9007199254740993"'],
    ['-9007199254740991::bigint', '-9007199254740991'],
    ['-9007199254740993::bigint', '"-9007199254740993"'],
    ['12::bigint', '12'],
    ['-3::tinyint', '-3'],
    ['count(*)', '1'],
    ['sum(12::bigint)', '12'],
    [
      'sum(n) from (values (9223372036854775807), (9223372036854775807)) t(n)',
      '"18446744073709551614"',
    ],
    ['18446744073709551615::ubigint', '"18446744073709551615"'],
    ["'123456789012345678901234567890'::bignum", '"123456789012345678901234567890"'],
  ])('an integer is exact, a number up to 2^53 - 1 and a string beyond: %s', async (sql, json) => {
    const [expression = '', from] = sql.split(' from ')
    const table = await ask(`select ${expression} as v ${from === undefined ? '' : `from ${from}`}`)
    expect(formatJson(table)).toBe(`[\n{"v":${json}}\n]\n`)
  })

  test.each([
    ['1.10::decimal(18, 3)', '1.1'],
    ['-0.500::decimal(18, 3)', '-0.5'],
    ['100::decimal(18, 0)', '100'],
    ['100.00::decimal(18, 2)', '100'],
    ['0.00::decimal(18, 2)', '0'],
    ['0.00012::decimal(18, 5)', '0.00012'],
    ["'9007199254740993.00'::decimal(38, 2)", '"9007199254740993"'],
    ["'12345678901234567.25'::decimal(38, 2)", '"12345678901234567.25"'],
  ])(
    'a decimal is a number if a double holds it exactly, otherwise a string: %s',
    async (sql, json) => {
      expect(await jsonOf(sql)).toBe(json)
    },
  )

  test.each([
    ['0.1::double', '0.1'],
    ['12::double', '12'],
    ["'nan'::double", 'null'],
    ["'-inf'::double", 'null'],
    ['null::bigint', 'null'],
    ['true', 'true'],
    ["'it''s \"x\"' || chr(10)", String.raw`"it's \"x\"\n"`],
    ["date '2026-01-14'", '"2026-01-14"'],
    ["timestamp '2026-01-14 01:02:03'", '"2026-01-14T01:02:03Z"'],
    ["timestamp '2026-01-14 01:02:03.1234'", '"2026-01-14T01:02:03.1234Z"'],
    ["timestamp_ns '2026-01-14 01:02:03.123456789'", '"2026-01-14T01:02:03.123456789Z"'],
    ["timestamptz '2026-01-14 01:02:03+02'", '"2026-01-13T23:02:03Z"'],
    ["time '01:02:03'", '"01:02:03"'],
    ["interval '-90 minutes'", '"P0M0DT-5400S"'],
    ["interval '1 month 3 days 1.5 seconds'", '"P1M3DT1.5S"'],
  ])('%s is written as %s in every time zone of the machine', async (sql, json) => {
    expect(await jsonOf(sql)).toBe(json)
  })

  test.each([
    ['[1::bigint, null, 9007199254740993]', '[1,null,"9007199254740993"]'],
    ["{'a b': 1::bigint, 'd': date '2026-01-14'}", '{"a b":1,"d":"2026-01-14"}'],
    ["map {date '2026-01-14': 2::bigint}", '{"2026-01-14":2}'],
    ["[{'t': timestamptz '2026-01-14 00:00:00+00'}]", '[{"t":"2026-01-14T00:00:00Z"}]'],
    ['union_value(n := 3::bigint)', '3'],
    ['[1.50::decimal(4, 2), 2]', '[1.5,2]'],
    ['[[1, 2, 3]]::bigint[3][]', '[[1,2,3]]'],
    ["map {'k': 1.50::decimal(4, 2)}", '{"k":1.5}'],
    [
      `{'a, "b" (c': 1::bigint, 'e': 'x, y'::enum('x, y'), 'l': [{'n': 0.5::double}]}`,
      String.raw`{"a, \"b\" (c":1,"e":"x, y","l":[{"n":0.5}]}`,
    ],
    ["['2026-01-14 01:02:03'::blob]", '["2026-01-14 01:02:03"]'],
  ])('a nested value follows the same rules: %s', async (sql, json) => {
    expect(await jsonOf(sql)).toBe(json)
  })

  test('columns with the same name get different keys', async () => {
    expect(formatJson(await ask('select 1 as a, 2 as a, 3 as a_1, 4 as a'))).toBe(
      '[\n{"a":1,"a_2":2,"a_1":3,"a_3":4}\n]\n',
    )
  })

  test('a result without rows is an empty array', async () => {
    expect(formatJson(await ask('select 1 as a where false'))).toBe('[]\n')
  })

  test('every BIGINT is exact', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (n) => {
        const table = { columns: ['n'], types: ['BIGINT'], rows: [[n]] }
        const isExact = n <= 2n ** 53n - 1n && n >= -(2n ** 53n) + 1n
        expect(JSON.parse(formatJson(table))).toEqual([{ n: isExact ? Number(n) : String(n) }])
      }),
    )
  })

  test('keys are distinct, and the first column of a name keeps it', () => {
    const names = fc.array(fc.constantFrom('a', 'a_1', 'a_2', 'a_1_1', 'b', ''), { maxLength: 12 })
    fc.assert(
      fc.property(names, (given) => {
        const distinct = distinctNames(given)
        expect(new Set(distinct).size).toBe(given.length)
        for (const [at, name] of given.entries()) {
          if (given.indexOf(name) === at) expect(distinct[at]).toBe(name)
        }
      }),
    )
  })
})

describe('CSV', () => {
  test('quotes as RFC 4180 requires, distinguishes NULL from empty text, and writes times in UTC', async () => {
    const table = await ask(`
      select 'a,b' as "x,y", 'say "hi"' as q, 'l1' || chr(10) || 'l2' as l, null as n, '' as e,
        -1 as i, -1.50::decimal(4, 2) as d, timestamptz '2026-01-14 01:02:03+00' as t`)
    expect(formatCsv(table)).toBe(
      '"x,y",q,l,n,e,i,d,t\n"a,b","say ""hi""","l1\nl2",,"",-1,-1.5,2026-01-14T01:02:03Z\n',
    )
  })

  test('writes a VARIANT as its value', async () => {
    const table = await ask(`select 'x'::variant as v, [1.50::decimal(4, 2)]::variant as w`)
    expect(formatCsv(table)).toBe('v,w\nx,[1.5]\n')
    expect(formatJson(table)).toBe('[\n{"v":"x","w":[1.5]}\n]\n')
  })

  test('text that a spreadsheet would execute gets an apostrophe, and a number does not', async () => {
    const table = await ask(`
      select '=cmd|''/C calc''!A0' as a, '+1' as b, '-1' as c, '@x' as d, chr(9) || '=1' as e,
        -1 as f, -0.5::double as g, 'a=1' as h, '  =1' as "=head"`)
    expect(formatCsv(table)).toBe(
      `a,b,c,d,e,f,g,h,'=head\n'=cmd|'/C calc'!A0,'+1,'-1,'@x,'\t=1,-1,-0.5,a=1,'  =1\n`,
    )
  })
})

describe('table', () => {
  test('aligns columns, with numbers to the right, and writes NULL', async () => {
    const table = await ask(`
      select * from (values ('alice', 12::bigint, 0.5::double), ('bo', 1234, null)) as t(name, n, r)`)
    expect(formatTable(table)).toBe(
      [
        'name  |    n |    r',
        '------+------+-----',
        'alice |   12 |  0.5',
        'bo    | 1234 | NULL',
        '(2 rows)',
        '',
      ].join('\n'),
    )
  })

  test('wide and combining characters keep columns aligned', async () => {
    const table = await ask(`
      select * from (values ('日本', 1), ('e\u0301', 2), ('👩‍💻', 3), ('ab', 4)) as t(name, n)`)
    expect(formatTable(table)).toBe(
      [
        'name | n',
        '-----+--',
        '日本 | 1',
        'e\u0301    | 2',
        '👩‍💻   | 3',
        'ab   | 4',
        '(4 rows)',
        '',
      ].join('\n'),
    )
  })

  test('control characters of a cell do not reach the terminal', async () => {
    const table = await ask(`select 'a' || chr(27) || '[2J' || chr(10) || 'b' || chr(8238) as x`)
    expect(formatTable(table)).toContain(String.raw`a\u001b[2J\nb\u202e`)
  })

  const WIDE = `select date '2026-03-01' as day, 12345678901234567890::hugeint as credits,
    repeat('x', 50) as name, null::double as ratio`

  test.each([undefined, 200, 100])('a result that fits in %s columns is a table', async (width) => {
    const lines = formatTable(await ask(WIDE), width).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[2]).toBe(`2026-03-01 | 12345678901234567890 | ${'x'.repeat(50)} |  NULL`)
  })

  test.each([80, 40])(
    'a result wider than %i columns has one column per line, and nothing is cut',
    async (width) => {
      expect(formatTable(await ask(WIDE), width).split('\n')).toEqual([
        '-[ row 1 ]-',
        'day     | 2026-03-01',
        'credits | 12345678901234567890',
        `name    | ${'x'.repeat(50)}`,
        'ratio   | NULL',
        '(1 row)',
        '',
      ])
    },
  )

  test('a wide result without rows shows its columns', async () => {
    const table = await ask(`select * from (${WIDE}) where false`)
    expect(formatTable(table, 10)).toMatch(/^day +\| credits \| name \| ratio$/m)
  })

  test('times are written to the second in tables, and in full in JSON and CSV', async () => {
    const table = await ask(`select timestamp '2026-03-01 01:02:03.456789' as t, 1.5::double as r`)
    expect(formatTable(table)).toContain('2026-03-01T01:02:03Z | 1.5')
    expect(formatResult(table, 'json')).toContain('2026-03-01T01:02:03.456789Z')
    expect(formatResult(table, 'csv')).toContain('2026-03-01T01:02:03.456789Z')
  })

  test('an explanation is printed as plain text', async () => {
    const text = formatTable(await ask('explain select 42 as answer'), 10)
    expect(text).toMatch(/^┌─+┐$/m)
    expect(text).toContain('PROJECTION')
    expect(text).not.toMatch(/explain_key|\\n|…/)
  })

  test('the row count has a singular, and a statement without columns prints only the count', async () => {
    expect(formatTable(await ask('select 1 as a'))).toMatch(/\(1 row\)\n$/)
    expect(formatTable({ columns: [], types: [], rows: [] })).toBe('(0 rows)\n')
  })
})

/** What is drawn as nothing or as a blank, and blanks at the end. */
const UNSEEN = [
  ...["'a' || chr(65039)", "'a' || chr(65024)", "chr(10240) || 'a'", "'a' || chr(10240)"],
  ...["'a '", "'a  '", "'a' || chr(160)", "'a' || chr(12288)", "''", "' '"],
  ...["'a b'", "'a' || chr(160) || 'b'", "'a' || chr(8239) || 'b'", "'a' || chr(113824)"],
]

test('invisible characters are escaped in tables only', async () => {
  const table = await ask(`
    select 'ends ' as a, 'ends' || chr(160) as b, ' x' || chr(65039) as c, chr(10240) as "d "`)
  expect(formatTable(table).split('\n')[2]).toBe(
    String.raw`ends\u0020 | ends\u00a0 |  x\ufe0f | \u2800`,
  )
  expect(formatTable(table, 10)).toContain('a       | ends\\u0020\n')
  expect(formatTable(table)).toMatch(/\| d\\u0020$/m)
  expect(formatResult(table, 'csv')).toBe('a,b,c,d \nends ,ends\u00a0, x\ufe0f,\u2800\n')
  expect(formatResult(table, 'json')).toContain('"ends ","b":"ends\u00a0","c":" x\ufe0f"')
})

test('joiners of scripts and emoji are kept in tables', async () => {
  const table = await ask(`select 'नमस्‍ते 👩‍💻 山田\u3000太郎' as a, '  12 %' as b`)
  expect(formatTable(table)).toContain('नमस्‍ते 👩‍💻 山田\u3000太郎 |   12 %\n')
})

test.each(outputFormats)(
  'as %s, texts that differ in an invisible character look different',
  async (format) => {
    const shown = async (text: string): Promise<string> =>
      formatResult(await ask(`select ${text} as name`), format)
    const texts = ["'a'", "chr(65279) || 'a'", "chr(8203) || 'a'", "'a' || chr(0)", ...UNSEEN]
    const results = await Promise.all(texts.map(shown))
    expect(new Set(results).size).toBe(texts.length)
    expect(results[1]).toMatch(format === 'table' ? /^\\ufeffa$/m : /"\ufeffa"|^\ufeffa$/m)
  },
)
