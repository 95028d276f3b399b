import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cell, Database } from '../../src/lib/duckdb.ts'
import type { Entity } from './columns.ts'
import { flatten, openBase, type RawItem } from './flatten.ts'

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

/** Similar names in JSON that must stay different, and how base spells each. */
const NAMES: readonly (readonly [string, string])[] = [
  ['"\\ud800a"', '\ufffd\\ud800a'],
  ['"\\uD801a"', '\ufffd\\ud801a'],
  ['"\\udfffa"', '\ufffd\\udfffa'],
  ['"\\ufffda"', '\ufffda'],
  ['"z\\ud83dq"', 'z\ufffd\\ud83dq'],
  ['"z\ufffd\\\\ud83dq"', 'z\ufffd\ufffd\\ud83dq'],
  ['"z\\uFFFD\ufffd\\u005Cud83dq"', 'z\ufffd\ufffd\ufffd\ufffd\\ud83dq'],
  ['"z\\ufffd\\ud83dq"', 'z\ufffd\ufffd\ufffd\\ud83dq'],
  ['"z\ufffd\\ud83d\\ude00"', 'z\ufffd😀'],
  ['"z\\\\ufffd\\\\"', 'z\\ufffd\\'],
  ['"\\\\ud800a"', '\\ud800a'],
  ['"\\ud83d\\ude00\\ud83d"', '😀\ufffd\\ud83d'],
  ['"\\ufeffa"', '\ufeffa'],
  ['"a"', 'a'],
  ['"a\\u0000"', 'a\0'],
  ['"a\\u0000b"', 'a\0b'],
]

describe('names that differ in half a surrogate pair or an invisible character', () => {
  const sorted = (rows: readonly (readonly Cell[])[]): readonly unknown[] => rows.flat().sort()
  const all = NAMES.map(([, name]) => name).sort()
  const list = (field: string): RawItem[] => [
    { item: `[${NAMES.map(([name]) => `{"${field}":${name}}`).join()}]` },
  ]
  const inList = (path: string, field: string): RawItem[] =>
    list(field).map(({ item }) => ({ item: `{"${path}":${String(item)}}` }))

  it.each<[Entity, string, RawItem[]]>([
    ['users', 'user_id', NAMES.map(([name]) => ({ item: `{"user_id":${name},"sessions":1}` }))],
    ['users', 'user_email', NAMES.map(([name]) => ({ item: `{"user_email":${name}}` }))],
    [
      'user_languages',
      'language',
      [{ item: `{"user_id":"u","languages":[${NAMES.map(([name]) => name).join()}]}` }],
    ],
    ['tokens_by_model', 'group_key', NAMES.map(([name]) => ({ item: `{"group_key":${name}}` }))],
    ['tokens_users', 'user_id', inList('by_user', 'user_id')],
    ['tokens_models', 'model_id', inList('by_model', 'model_id')],
    ['tools_mcp_servers', 'server', inList('mcp_by_server', 'server')],
    ['tools_tools', 'tool', inList('by_tool', 'tool')],
    ['tools_skills', 'name', inList('skills_by_name', 'name')],
    [
      'activity_clients',
      'client',
      [
        {
          item: `{"daily_active_users_by_client":{${NAMES.map(([name]) => `${name}:1`).join()}}}`,
        },
      ],
    ],
  ])('of %s stay different: %s', async (entity, column, items) => {
    expect(sorted(await rowsOf(entity, items, column))).toEqual(all)
  })
})

describe('a repeated row', () => {
  const served = (fields: Record<string, unknown>, page: number, ordinal: number): RawItem => ({
    item: { user_id: 'u1', ...fields },
    page,
    ordinal,
  })

  it('of a user and day is replaced by that of the later page and ordinal', async () => {
    const items = [
      served({ sessions: 3, languages: ['Go'] }, 2, 0),
      served({ sessions: 2, languages: ['C', 'D'] }, 1, 7),
      served({ sessions: 4, languages: ['Rust'] }, 2, 1),
      { ...served({ sessions: 9, languages: ['Go'] }, 0, 0), day: '2026-01-15' },
    ]
    expect(await rowsOf('users', items, 'activity_date', 'user_id', 'sessions')).toEqual([
      ['2026-01-14', 'u1', '4'],
      ['2026-01-15', 'u1', '9'],
    ])
    expect(await rowsOf('user_languages', items, 'activity_date', 'language')).toEqual([
      ['2026-01-14', 'Rust'],
      ['2026-01-15', 'Go'],
    ])
  })

  it('without a user id, or with the placeholder of the models, is kept', async () => {
    const ids = [undefined, '', '(unattributed)', '(unattributed)']
    const items = ids.map((user_id, at) => ({ item: { user_id, sessions: at, languages: ['C'] } }))
    expect(await rowsOf('users', items, 'user_id', 'sessions')).toEqual([
      [null, '0'],
      [null, '1'],
      [null, '2'],
      [null, '3'],
    ])
    expect(await rowsOf('user_languages', items, 'user_id')).toEqual(ids.map(() => [null]))
  })

  it.each([
    ['tokens_by_model', 'input_tokens'],
    ['tools_by_name', 'tool_calls'],
    ['activity_by_client', 'daily_active_users'],
  ] as const)('of a group and day is replaced by the later one in %s', async (entity, metric) => {
    const group = (key: string, count: number, ordinal: number): RawItem => ({
      item: { group_key: key, [metric]: count },
      ordinal,
    })
    const items = [group('a', 2, 1), group('a', 1, 0), group('b', 3, 2)]
    expect(await rowsOf(entity, items, 'group_key', metric)).toEqual([
      ['a', '2'],
      ['b', '3'],
    ])
  })
})

describe('the languages of a user', () => {
  it('are distinct, without empty ones', async () => {
    const languages = ['Go', 'Go', '', ' ', null, 7, 'TypeScript']
    const rows = await rowsOf('user_languages', day({ user_id: 'u1', languages }), 'language')
    expect(rows).toEqual([['7'], ['Go'], ['TypeScript']])
  })
})

describe('a user row', () => {
  it('has every field read', async () => {
    const item = {
      user_id: 'u1',
      user_email: null,
      tool_calls: '5',
      primary_model: 'm',
      primary_model_tier: 'thinking',
      autonomy_ratio: 1.5,
      delegation_level: 'auto-high',
    }
    const columns = Object.keys(item)
    expect(await rowsOf('users', day(item), ...columns, 'hooks')).toEqual([
      ['u1', null, '5', 'm', 'thinking', 1.5, 'auto-high', null],
    ])
  })
})
