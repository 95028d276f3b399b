import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import type { Cell, Database } from '../../src/lib/duckdb.ts'
import { COLUMNS, ENTITIES, type Entity } from './columns.ts'
import { entitySql, flatten, openBase, putRaw, type RawItem } from './flatten.ts'

let database: Database

beforeAll(async () => {
  database = await openBase()
})

afterAll(() => {
  database.close()
})

async function rowsOf(
  entity: Entity,
  items: readonly RawItem[],
  ...columns: string[]
): Promise<(readonly Cell[])[]> {
  return flatten(database, entity, items, columns)
}

const day = (fields: Record<string, unknown>): RawItem[] => [{ item: fields }]

describe('a count', () => {
  it.each([
    ['12', '12'],
    ['12.0', '12'],
    ['"12"', '12'],
    ['"12.0"', '12'],
    ['" 12 "', '12'],
    ['1e3', '1000'],
    ['"1e3"', '1000'],
    ['0', '0'],
    ['-3', '-3'],
    ['12.4', null],
    ['12.5', null],
    ['"12.5"', null],
    ['1e-30', null],
    ['1.5e1', '15'],
    ['12345678901234567.0', '12345678901234567'],
    ['9007199254740993.0', '9007199254740993'],
    ['9007199254740993e0', '9007199254740993'],
    ['9007199254740993.5', null],
    ['9007199254740993.00000001', null],
    ['12.00000000000000001', null],
    ['12.0000000000000000000000000000000000000001', null],
    ['12.00000000000000000', '12'],
    ['0e-5', '0'],
    ['1200e-2', '12'],
    ['9007199254740993', '9007199254740993'],
    ['"9007199254740993"', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', null],
    ['1e30', null],
    ['1e999', null],
    ['null', null],
    ['""', null],
    ['"n/a"', null],
    ['"1,000"', null],
    ['"1_000"', null],
    ['"0x10"', null],
    ['"NaN"', null],
    ['"Infinity"', null],
    ['true', null],
    ['"true"', null],
    ['{}', null],
    ['[12]', null],
  ])('that arrives as %s is %s', async (served, expected) => {
    const items = [{ item: `{"input_tokens": ${served}}` }]
    expect(await rowsOf('tokens_days', items, 'input_tokens')).toEqual([[expected]])
  })

  it('is exact for every 64-bit integer, as number and as text', async () => {
    const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    await fc.assert(
      fc.asyncProperty(integers, async (count) => {
        const items = [{ item: `{"sessions": ${count}, "messages": "${count}"}` }]
        const rows = await rowsOf('activity_days', items, 'sessions', 'messages')
        expect(rows).toEqual([[String(count), String(count)]])
      }),
      { numRuns: 50 },
    )
  })
})

describe('credits', () => {
  it.each([
    ['12', '12.000000'],
    ['12.5', '12.500000'],
    ['"12.5"', '12.500000'],
    ['" 12.5 "', '12.500000'],
    ['-0.25', '-0.250000'],
    ['1e3', '1000.000000'],
    ['1.5e-3', '0.001500'],
    ['9858.75', '9858.750000'],
    ['0.123456', '0.123456'],
    ['12345678901.123456', '12345678901.123456'],
    ['9007199254740993', '9007199254740993.000000'],
    ['9007199254740993.123456', '9007199254740993.123456'],
    ['9223372036854775808.5', '9223372036854775808.500000'],
    ['1000000000000000000000', '1000000000000000000000.000000'],
    ['10000000000000000000000', null],
    ['1e999', null],
    // a quotient of doubles, and digits behind the sixth
    ['12345.666666666666', '12345.666667'],
    ['0.1234567', '0.123457'],
    ['1000000.0000001', '1000000.000000'],
    ['-0.0000015', '-0.000002'],
    ['1e-7', '0.000000'],
    // what remains of a difference of doubles
    ['6e-8', '0.000000'],
    ['5.684341886080802e-14', '0.000000'],
    ['-5.684341886080802e-14', '0.000000'],
    ['35315843.838608432e17', null],
    ['10000000000000000000000.5', null],
    // sums of doubles
    ['0.30000000000000004', '0.300000'],
    ['296068.45000000001', '296068.450000'],
    // more digits than a double has
    ['12.00000000000000001', '12.000000'],
    ['11.99999999999999999', '12.000000'],
    ['null', null],
    ['"n/a"', null],
    ['"1_000.5"', null],
    ['true', null],
    ['{}', null],
  ])('that arrive as %s are %s', async (served, expected) => {
    const items = [{ item: `{"billable_tokens": ${served}}` }]
    expect(await rowsOf('tokens_days', items, 'billable_tokens')).toEqual([[expected]])
  })

  it('are exact for every decimal of six fraction digits, even next to text that resembles one', async () => {
    const millionths = fc.bigInt({ min: -(10n ** 28n) + 1n, max: 10n ** 28n - 1n })
    await fc.assert(
      fc.asyncProperty(millionths, async (amount) => {
        const digits = String(amount < 0n ? -amount : amount).padStart(7, '0')
        const text = `${amount < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
        const id = `u ":1234567890123.25,\\\\" ${text}`
        const items = [
          { item: JSON.stringify({ user_id: id }).replace('}', `,"billable_tokens":${text}}`) },
        ]
        expect(await rowsOf('users', items, 'user_id', 'billable_tokens')).toEqual([[id, text]])
      }),
      { numRuns: 50 },
    )
  })

  it('are added up when a day has a user twice', async () => {
    const entry = { user_id: 'u', billable_tokens: 0.1 }
    const items = day({
      by_user: [
        { ...entry, input_tokens: 1 },
        { ...entry, input_tokens: 2 },
      ],
    })
    expect(await rowsOf('tokens_users', items, 'billable_tokens', 'input_tokens')).toEqual([
      ['0.200000', '3'],
    ])
  })

  it('and counts keep their values, except that a sum that does not fit is NULL', async () => {
    const entry =
      '{"user_id":"u","billable_tokens":1,"input_tokens":9223372036854775807,"output_tokens":1}'
    const items = [{ item: `{"by_user":[${entry},${entry}]}` }]
    expect(
      await rowsOf('tokens_users', items, 'billable_tokens', 'input_tokens', 'output_tokens'),
    ).toEqual([['2.000000', null, '2']])
  })
})

describe('a ratio', () => {
  it.each([
    ['4.25', 4.25],
    ['"4.25"', 4.25],
    ['4', 4],
    ['1e-3', 0.001],
    ['1e999', null],
    ['"NaN"', null],
    ['true', null],
    ['{}', null],
  ])('that arrives as %s is %s', async (served, expected) => {
    const items = [{ item: `{"autonomy_ratio_avg": ${served}}` }]
    expect(await rowsOf('tools_days', items, 'autonomy_ratio_avg')).toEqual([[expected]])
  })
})

describe('a day', () => {
  it.each(['tokens_days', 'tools_days', 'activity_days', 'productivity_days'] as const)(
    'without fields becomes one row of NULLs in %s, never of zeros',
    async (entity) => {
      const columns = ["columns(lambda name: name != 'day_digest')"]
      const [row = []] = await rowsOf(entity, day({ date: '2026-01-14' }), ...columns)
      expect(row.slice(0, 2)).toEqual(['org-1', '2026-01-14'])
      expect(new Set(row.slice(2, -1))).toEqual(new Set([null]))
      expect(row.at(-1)).toContain('2026-02-01 06:00:00')
    },
  )

  it('has the date of its interval, and not that of the item', async () => {
    const rows = await rowsOf('tokens_days', day({ date: '1999-01-01' }), 'activity_date')
    expect(rows).toEqual([['2026-01-14']])
  })

  it('that was served twice has the row and nested parts of the last page and ordinal', async () => {
    const served = (tokens: number, page: number, ordinal: number): RawItem => ({
      item: { billable_tokens: tokens, by_model: [{ model_id: `m${tokens}` }] },
      page,
      ordinal,
    })
    const items = [served(1, 0, 9), served(3, 1, 5), served(2, 1, 4)]
    expect(await rowsOf('tokens_days', items, 'billable_tokens')).toEqual([['3.000000']])
    expect(await rowsOf('tokens_models', items, 'model_id')).toEqual([['m3']])
  })

  it('of one organisation or date does not replace that of another', async () => {
    const items = ['a', 'b'].flatMap((org) =>
      ['2026-01-14', '2026-01-15'].map((date) => ({ item: { git_commits: 1 }, org, day: date })),
    )
    expect(await rowsOf('productivity_days', items, 'org_id', 'activity_date')).toHaveLength(4)
  })
})

describe('every entity', () => {
  it.each(ENTITIES)('%s has its columns and types even without items', async (entity) => {
    await putRaw(database, [])
    const table = await database.table(await entitySql(database, entity))
    expect(table.rows).toEqual([])
    expect(table.columns.map((name, index) => `${name} ${table.types[index]}`)).toEqual([
      'org_id VARCHAR',
      'activity_date DATE',
      ...COLUMNS[entity],
      'fetched_at TIMESTAMP WITH TIME ZONE',
    ])
  })

  it('reads any JSON without failing', async () => {
    const names = fc.constantFrom(
      ...['by_model', 'by_user', 'by_tool', 'model_id', 'user_id', 'languages', 'group_key'],
      ...['tool', 'daily_active_users_by_client', 'tool_calls', 'billable_tokens', 'server'],
      ...['settings', 'revision', 'customModels', 'id', 'source', 'updatedAt', 'createdAt'],
      ...['report', 'reportId', 'numerator', 'sessionSettings', 'tags', 'name', 'content', 'text'],
      ...['provisioningSteps', 'startedAt', 'input', 'event_id', 'userLimits', 'email', 'limit'],
    )
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('"\\ud800"', '"\\udc00x"', '1e999', '1e3', '"\\u0000"', '""', 'null'),
        fc.integer().map(String),
        fc.array(tie('json')).map((parts) => `[${parts.join()}]`),
        fc
          .array(fc.tuple(names, tie('json')))
          .map((parts) => `{${parts.map(([name, part]) => `"${name}":${part}`).join()}}`),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(fc.array(json, { minLength: 1, maxLength: 3 }), async (texts) => {
        await putRaw(
          database,
          texts.map((text) => ({ item: text })),
        )
        for (const entity of ENTITIES) await database.table(await entitySql(database, entity))
      }),
      { numRuns: 30 },
    )
  })
})

describe('an item that DuckDB refuses', () => {
  const lone = '{"user_id": "u1", "user_email": "a\\ud83d@x", "sessions": 2}'

  it('is read with half a surrogate pair as its escape', async () => {
    const rows = await rowsOf('users', [{ item: lone }], 'user_id', 'user_email', 'sessions')
    expect(rows).toEqual([['u1', 'a\ufffd\\ud83d@x', '2']])
  })

  it('is read with whole pairs and escaped backslashes unchanged', async () => {
    const item = '{"user_id": "\\ud83d\\ude00\\\\ud83d\\uDE00", "user_email": "C:\\\\ud800"}'
    const rows = await rowsOf('users', [{ item }], 'user_id', 'user_email')
    expect(rows).toEqual([['\u{1f600}\\ud83d\ufffd\\ude00', 'C:\\ud800']])
  })

  it('becomes a row of NULLs when it is not JSON, and other items are read', async () => {
    const items = [{ item: '{"user_id": "u' }, { item: { user_id: 'u2' } }]
    expect(await rowsOf('users', items, 'user_id')).toEqual([['u2'], [null]])
  })
})
