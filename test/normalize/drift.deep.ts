import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, parseDay } from '../../src/lib/days.ts'
import { DOCUMENTED } from './documented-rows.ts'
import { Lake } from '../support/lake.ts'

type Resource = keyof typeof DOCUMENTED

/** The documented row with other fields, or without those that are undefined. */
function row(resource: Resource, fields: object = {}): object {
  return { ...DOCUMENTED[resource], ...fields }
}

/** The findings of single rows: the rows of a day have one key here and differ intentionally. */
const FINDINGS = `select resource, activity_date as day, path, kind, expected, served_type, served_length
  from {schema_drift} where path is not null and kind <> 'repeated' order by all`

/** Field and value as served, and the finding: path, kind, expected type, the value as JSON. */
type Case = readonly [
  Resource,
  object,
  ...(readonly [string, string, string | null, string | null])[],
]

const CASES: readonly Case[] = [
  // as documented
  ['users', {}],
  ['users', { user_email: 'a@b' }],
  ['users', { tool_calls: null, primary_model: null, languages: null }],
  ['users', { languages: [] }],
  ['users', { languages: ['é', null] }],
  ['tokens', { by_user: [], by_model: [] }],
  ['tokens', { by_model: [{ model: 'm', input_tokens: 1, output_tokens: 2 }] }],
  ['activity', { daily_active_users_by_client: { 'a new one': 3 } }],
  ['activity', { daily_active_users_by_client: {} }],
  // unknown
  ['users', { agents: 3 }, ['$.agents', 'unknown', null, '3']],
  ['users', { agents: null }, ['$.agents', 'unknown', null, 'null']],
  ['users', { 'a key': 'x' }, ['$.*', 'unknown', null, '"x"']],
  ['users', { '': 'xyz' }, ['$.*', 'unknown', null, '"xyz"']],
  ['users', { '': ['x'], 'a key': 7 }, ['$.*', 'unknown', null, '["x"]']],
  [
    'tools',
    { by_tool: [{ tool: 'Read', invocations: 3, '': 9 }] },
    ['$.by_tool[].*', 'unknown', null, '9'],
  ],
  [
    'tokens',
    { by_user: [{ user_id: 'u', by_model: [{ model_id: 'm', '': { b: 1 } }] }] },
    ['$.by_user[].by_model[].*', 'unknown', null, '{"b":1}'],
  ],
  [
    'activity',
    { daily_active_users_by_client: { '': 'many' } },
    ['$.daily_active_users_by_client.*', 'unreadable', 'integer', '"many"'],
  ],
  ['activity', { daily_active_users_by_client: { '': 3 } }],
  ['users', { nested: { a: [1] } }, ['$.nested', 'unknown', null, '{"a":[1]}']],
  [
    'tools',
    { by_tool: [{ tool: 'Read', invocations: 3, ms: 9 }] },
    ['$.by_tool[].ms', 'unknown', null, '9'],
  ],
  [
    'tokens',
    { by_user: [{ user_id: 'u' }, { user_id: 'v', by_model: [{ model_id: 'm', usd: 0.5 }] }] },
    ['$.by_user[].by_model[].usd', 'unknown', null, '0.5'],
  ],
  // missing
  ['users', { sessions: undefined }, ['$.sessions', 'missing', 'integer', null]],
  ['tools', { by_tool: undefined }, ['$.by_tool', 'missing', 'array', null]],
  [
    'tools',
    { hooks_by_event: [{ event: 'Stop', count: 1, command: 'x' }] },
    ['$.hooks_by_event[].matcher', 'missing', 'string', null],
  ],
  ['tokens', { by_user: [{}] }, ['$.by_user[].user_id', 'unnamed', 'string', null]],
  ['users', { user_id: null }, ['$.user_id', 'unnamed', 'string', null]],
  ['users', { user_id: '' }, ['$.user_id', 'unnamed', 'string', null]],
  ['users', { user_id: undefined }, ['$.user_id', 'unnamed', 'string', null]],
  [
    'tokens',
    { by_model: [{ model: 'm' }, { model_id: null, model: '' }] },
    ['$.by_model[].model_id', 'unnamed', 'string', null],
  ],
  ['tools_by_name', { group_key: '' }, ['$.group_key', 'unnamed', 'string', null]],
  [
    'users',
    { 'ann@x.test': 1, sk_live_12345678: 2, ['n'.repeat(41)]: 3 },
    ['$.*', 'unknown', null, '1'],
  ],
  // another type, but readable
  ['users', { sessions: '12' }, ['$.sessions', 'type', 'integer', '"12"']],
  ['users', { sessions: '12.0' }, ['$.sessions', 'type', 'integer', '"12.0"']],
  ['users', { autonomy_ratio: '1.5' }, ['$.autonomy_ratio', 'type', 'number', '"1.5"']],
  ['users', { user_id: 7 }, ['$.user_id', 'type', 'string', '7']],
  ['users', { languages: ['C', 7] }, ['$.languages[]', 'type', 'string', '7']],
  [
    'tools',
    { by_tool: [{ tool: true, invocations: 3 }] },
    ['$.by_tool[].tool', 'type', 'string', 'true'],
  ],
  // unreadable for base
  ['users', { sessions: 'abc' }, ['$.sessions', 'unreadable', 'integer', '"abc"']],
  ['users', { sessions: true }, ['$.sessions', 'unreadable', 'integer', 'true']],
  ['users', { sessions: {} }, ['$.sessions', 'unreadable', 'integer', '{}']],
  ['users', { languages: 'Go' }, ['$.languages', 'unreadable', 'array', '"Go"']],
  ['tools', { by_tool: { Read: 3 } }, ['$.by_tool', 'unreadable', 'array', '{"Read":3}']],
  ['tools', { by_tool: ['Read'] }, ['$.by_tool[]', 'unreadable', 'object', '"Read"']],
  [
    'activity',
    { daily_active_users_by_client: [] },
    ['$.daily_active_users_by_client', 'unreadable', 'object', '[]'],
  ],
  [
    'activity',
    { daily_active_users_by_client: { web: 'x' } },
    ['$.daily_active_users_by_client.*', 'unreadable', 'integer', '"x"'],
  ],
  ['users', { sessions: 12.5 }, ['$.sessions', 'unreadable', 'integer', '12.5']],
  ['users', { sessions: '12.5' }, ['$.sessions', 'unreadable', 'integer', '"12.5"']],
  [
    'activity',
    { daily_active_users_by_client: { web: 1.5 } },
    ['$.daily_active_users_by_client.*', 'unreadable', 'integer', '1.5'],
  ],
  // credits have six fraction digits
  ['users', { billable_tokens: 296068.45 }],
  ['tokens', { by_user: [{ user_id: 'u', billable_tokens: 0.25 }] }],
  [
    'tokens',
    { by_user: [{ user_id: 'u', billable_tokens: 0.1234567 }] },
    ['$.by_user[].billable_tokens', 'rounded', 'decimal', '0.1234567'],
  ],
  [
    'tokens',
    { by_user: [{ user_id: 'u', by_model: [{ model_id: 'm', billable_tokens: 'x' }] }] },
    ['$.by_user[].by_model[].billable_tokens', 'unreadable', 'decimal', '"x"'],
  ],
  [
    'tokens',
    { billable_tokens: 0.1 + 0.2 },
    ['$.billable_tokens', 'rounded', 'decimal', '0.30000000000000004'],
  ],
  ['tokens', { billable_tokens: '1.5' }, ['$.billable_tokens', 'type', 'decimal', '"1.5"']],
]

/** Numbers as text, because JavaScript would respell them. */
const SPELLINGS: readonly (readonly [string, ...string[]])[] = [
  ['12.0'],
  ['1e3'],
  ['-3'],
  ['9007199254740993'],
  ['9223372036854775807'],
  ['9223372036854775808', 'unreadable'],
  ['18446744073709551616', 'unreadable'],
  ['1e30', 'unreadable'],
  ['1e999', 'unreadable'],
  ['12.000001', 'unreadable'],
  ['12.00000000000000001', 'unreadable'],
  ['11.99999999999999999', 'unreadable'],
  ['12.00000000000000000'],
  ['12.0000000000000000000000000000000000000001', 'unreadable'],
  ['9007199254740993.0'],
  ['9007199254740993.5', 'unreadable'],
]

/** What a finding records of a value, JSON text: type and length, not the value. */
function served(json: string | null): object {
  const value: unknown = json === null ? undefined : JSON.parse(json)
  const isSized = typeof value === 'string' || Array.isArray(value)
  return { served_type: typeOf(value), served_length: isSized ? String(value.length) : null }
}

function typeOf(value: unknown): string | null {
  if (value === undefined) return null
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

describe('a row', () => {
  it('that differs from the documentation is found field by field, and no other row', async () => {
    const lake = await Lake.open()
    const first = parseDay('2026-01-14', 'the day')
    for (const [index, [resource, fields]] of CASES.entries()) {
      const rows = [row(resource), row(resource, fields)]
      await lake.land(resource, addDays(first, index), '2026-04-01T03:00:00Z', rows)
    }
    await lake.normalize()
    expect(await lake.rows(FINDINGS)).toEqual(
      CASES.flatMap(([resource, , ...found], index) =>
        found.map(([path, kind, expected, value]) => ({
          resource,
          day: addDays(first, index),
          path,
          kind,
          expected,
          ...served(value),
        })),
      ).sort((a, b) => (`${a.resource} ${a.day}` < `${b.resource} ${b.day}` ? -1 : 1)),
    )
  })

  it('as documented, in any order of fields, has no finding', async () => {
    const lake = await Lake.open()
    for (const [resource, fields] of Object.entries(DOCUMENTED)) {
      const turned = Object.fromEntries(Object.entries(fields).reverse())
      await lake.land(resource, '2026-01-14', '2026-01-15T03:00:00Z', [fields, turned])
    }
    await lake.normalize()
    expect(await lake.rows(FINDINGS)).toEqual([])
    expect(lake.events.filter(({ type }) => type === 'warning')).toEqual([])
  })

  it('without a documented field is found, even if every row lacks it', async () => {
    const lake = await Lake.open()
    const users = [1, 2].map((sessions) => row('users', { sessions, hooks: undefined }))
    const tools = row('tools', { skills_by_name: [{ name: 'review' }] })
    await lake.land('users', '2026-01-14', '2026-01-15T03:00:00Z', users)
    await lake.land('tools', '2026-01-14', '2026-01-15T03:00:00Z', [tools])
    await lake.normalize()
    expect((await lake.rows(FINDINGS)).map(({ path, kind }) => [path, kind])).toEqual([
      ['$.skills_by_name[].count', 'missing'],
      ['$.hooks', 'missing'],
    ])
  })

  it.each(['sessions', 'autonomy_ratio'])(
    'with a %s in any spelling of a number is found only if it is unreadable',
    async (field) => {
      const lake = await Lake.open()
      const first = parseDay('2026-01-14', 'the day')
      for (const [index, [spelling]] of SPELLINGS.entries()) {
        const text = JSON.stringify(row('users', { [field]: 0 })).replace(
          `"${field}":0`,
          `"${field}" : ${spelling}`,
        )
        await lake.land('users', addDays(first, index), '2026-04-01T03:00:00Z', [
          row('users'),
          text,
        ])
      }
      await lake.normalize()
      const found = await lake.rows(FINDINGS)
      const expected = SPELLINGS.flatMap(([spelling, kind], index) => {
        const isRatio = field === 'autonomy_ratio'
        if (kind === undefined || (isRatio && spelling !== '1e999')) return []
        return [{ day: addDays(first, index), kind }]
      })
      expect(found.map(({ day, kind }) => ({ day, kind }))).toEqual(expected)
    },
  )

  it('that DuckDB refuses is read with its half surrogate pairs, or found unreadable', async () => {
    const lake = await Lake.open()
    const lone = JSON.stringify(row('users', { agents: 1 })).replace('"u"', '"\\ud83d"')
    const items = [row('users'), lone, '{"user_id": "cut o']
    await lake.land('users', '2026-01-14', '2026-01-15T03:00:00Z', items)
    await lake.normalize()
    const found = await lake.rows(FINDINGS)
    expect(found.map(({ path, kind }) => [path, kind])).toEqual([
      ['$', 'surrogate'],
      ['$', 'unreadable'],
      ['$.agents', 'unknown'],
    ])
  })
})

describe('a count', () => {
  const scalar = fc.oneof(
    fc.constantFrom('null', 'true', '""', '"n/a"', '{}', '[1]', '1e400', '"1_000"', '" 7 "'),
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map(String),
    fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  )
  const text = fc.tuple(scalar, fc.boolean()).map(([value, isQuoted]) => {
    return isQuoted && !/["{[]/.test(value) ? `"${value}"` : value
  })

  it('is found exactly when base cannot read it', async () => {
    const days = 40
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: days, maxLength: days }), async (values) => {
        const lake = await Lake.open()
        const first = parseDay('2026-01-14', 'the day')
        for (const [index, value] of values.entries()) {
          const item = JSON.stringify(row('activity')).replace(
            '"sessions":1',
            `"sessions":${value}`,
          )
          await lake.land('activity', addDays(first, index), '2026-04-01T03:00:00Z', [item])
        }
        await lake.normalize()
        const differing = await lake.rows(`
          select activity_date, sessions, kind from {activity_days}
          left join (from {schema_drift} where path is not null) using (activity_date)
          where (sessions is null) <> (kind is not distinct from 'unreadable') order by 1`)
        const nulls = values.flatMap((value, index) =>
          value === 'null'
            ? [{ activity_date: addDays(first, index), sessions: null, kind: null }]
            : [],
        )
        expect(differing).toEqual(nulls)
      }),
      { numRuns: 3 },
    )
  })
})

describe('a drift finding', () => {
  it('has type, length and request, and never the value', async () => {
    const lake = await Lake.open()
    const rows = ['x'.repeat(500), 'later'].map((extra) => row('users', { extra }))
    await lake.land('users', '2026-01-14', '2026-01-15T03:00:00Z', rows)
    await lake.normalize()
    const select = 'select served_type, served_length, occurrences, request_id from {schema_drift}'
    expect(await lake.rows(select)).toEqual([
      {
        served_type: 'string',
        served_length: '500',
        occurrences: '2',
        request_id: 'req 2026-01-15T03:00:00Z',
      },
    ])
  })

  it('is the same for very large rows', async () => {
    const lake = await Lake.open()
    const rows = [row('users'), row('users', { extra: 'x'.repeat(9 * 2 ** 20) })]
    await lake.land('users', '2026-01-14', '2026-01-15T03:00:00Z', rows)
    await lake.normalize()
    expect(await lake.rows('select path, kind, served_length from {schema_drift}')).toEqual([
      { path: '$.extra', kind: 'unknown', served_length: String(9 * 2 ** 20) },
    ])
  })

  it('is limited to a hundred paths a day', async () => {
    const lake = await Lake.open()
    const rows = Array.from({ length: 150 }, (_, n) => row('users', { [`field_${n}`]: n }))
    await lake.land('users', '2026-01-14', '2026-01-15T03:00:00Z', rows)
    await lake.normalize()
    expect(await lake.rows('select count(*) as n from {schema_drift}')).toEqual([{ n: '100' }])
  })
})
