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

/** Ranges whose case mappings have not changed between versions of Unicode. */
const LETTERS = [
  [0x61, 0x17f],
  [0x3ac, 0x3ce],
  [0x430, 0x45f],
].flatMap(([first = 0, last = 0]) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
)

const NESTED: readonly (readonly [Entity, string])[] = [
  ['tokens_models', 'by_model'],
  ['tokens_users', 'by_user'],
  ['tokens_user_models', 'by_user'],
  ['tools_tools', 'by_tool'],
  ['tools_mcp_servers', 'mcp_by_server'],
  ['tools_skills', 'skills_by_name'],
  ['tools_slash_commands', 'slash_commands_by_name'],
  ['tools_hooks', 'hooks_by_event'],
  ['productivity_languages', 'by_language'],
  ['productivity_extensions', 'by_extension'],
]

describe('a nested field', () => {
  it.each(NESTED)('of another type gives %s no rows', async (entity, field) => {
    for (const value of [undefined, null, {}, 'text', 3, true, [], [null], [[]]]) {
      expect(await rowsOf(entity, day({ [field]: value }), '*')).toEqual([])
    }
  })

  it.each([
    ['tools_autonomy_levels', 'tool_autonomy_level_ratio'],
    ['activity_clients', 'daily_active_users_by_client'],
  ] as const)('with open keys and of another type gives %s no rows', async (entity, field) => {
    for (const value of [undefined, null, {}, 'text', 3, [], [1]]) {
      expect(await rowsOf(entity, day({ [field]: value }), '*')).toEqual([])
    }
  })

  it('of another type gives a user no languages', async () => {
    for (const languages of [undefined, null, {}, 'Go', 3, [], [null]]) {
      expect(await rowsOf('user_languages', day({ user_id: 'u', languages }), '*')).toEqual([])
    }
  })

  it('drops entries that are not objects and keeps the others', async () => {
    const item = { by_tool: [null, 'Read', 7, { tool: 'Edit' }, {}, { invocations: '2.0' }] }
    expect(await rowsOf('tools_tools', day(item), 'tool', 'invocations')).toEqual([
      ['Edit', null],
      [null, '2'],
    ])
  })

  it('keeps repeated entries', async () => {
    const read = { tool: 'Read', invocations: 1 }
    const rows = await rowsOf('tools_tools', day({ by_tool: [read, read] }), 'tool', 'invocations')
    expect(rows).toEqual([
      ['Read', '1'],
      ['Read', '1'],
    ])
  })
})

describe('the credits of a day', () => {
  it('are split by model, under either field name of the model', async () => {
    const item = {
      by_model: [
        { model_id: 'a', model_tier: 'standard', billable_tokens: '7', input_tokens: 8.0 },
        { model: 'b', billable_tokens: 9007199254740991, output_tokens: null },
        { model_id: '', model: 'c' },
      ],
    }
    const columns = ['model_id', 'model_tier', 'billable_tokens', 'input_tokens', 'output_tokens']
    expect(await rowsOf('tokens_models', day(item), ...columns)).toEqual([
      ['a', 'standard', '7.000000', '8', null],
      ['b', null, '9007199254740991.000000', null, null],
      ['c', null, null, null, null],
    ])
  })

  it('are split by user, and by model within a user', async () => {
    const item = {
      by_user: [
        { user_id: 'u1', user_email: 'a@x', billable_tokens: 5, by_model: [{ model: 'm' }] },
        { user_id: 'u2', user_email: '', by_model: { m: 1 } },
        { user_id: '', billable_tokens: 1, by_model: [{ model_id: 'n', billable_tokens: 1 }] },
      ],
    }
    const users = ['user_id', 'user_email', 'billable_tokens']
    expect(await rowsOf('tokens_users', day(item), ...users)).toEqual([
      ['u1', 'a@x', '5.000000'],
      ['u2', null, null],
      [null, null, '1.000000'],
    ])
    const models = ['user_id', 'model_id', 'billable_tokens']
    expect(await rowsOf('tokens_user_models', day(item), ...models)).toEqual([
      ['u1', 'm', null],
      [null, 'n', '1.000000'],
    ])
  })
})

describe('an object with open keys', () => {
  it('becomes one row per client, whatever the clients are', async () => {
    const item = { daily_active_users_by_client: { web: '3', 'new-one': 4.0, '': 1, odd: true } }
    const rows = await rowsOf('activity_clients', day(item), 'client', 'daily_active_users')
    expect(rows).toEqual([
      ['', '1'],
      ['new-one', '4'],
      ['odd', null],
      ['web', '3'],
    ])
  })

  it('becomes one row per autonomy level, spelled as served', async () => {
    const item = { tool_autonomy_level_ratio: { auto_high: 0.25, 'auto-low': '0.75', x: null } }
    const rows = await rowsOf('tools_autonomy_levels', day(item), 'level_key', 'share')
    expect(rows).toEqual([
      ['auto-low', 0.75],
      ['auto_high', 0.25],
      ['x', null],
    ])
  })
})

describe('a list of named counts', () => {
  const entry = { event: 'Stop', matcher: '*', command: 'a.sh', name: 'n', count: '3.0' }

  it.each([
    ['tools_skills', 'skills_by_name', ['name'], ['n']],
    ['tools_slash_commands', 'slash_commands_by_name', ['name'], ['n']],
    ['tools_hooks', 'hooks_by_event', ['event', 'matcher', 'command'], ['Stop', '*', 'a.sh']],
  ] as const)('becomes rows of %s', async (entity, field, names, expected) => {
    const rows = await rowsOf(entity, day({ [field]: [entry] }), ...names, 'count_value')
    expect(rows).toEqual([[...expected, '3']])
  })

  it('becomes rows of languages and extensions', async () => {
    const item = {
      by_language: [{ language: 'Go', count: 1 }],
      by_extension: [{ extension: '.go', count: 2 }],
    }
    const languages = await rowsOf('productivity_languages', day(item), 'language', 'count_value')
    const extensions = await rowsOf(
      'productivity_extensions',
      day(item),
      'extension',
      'count_value',
    )
    expect([...languages, ...extensions]).toEqual([
      ['Go', '1'],
      ['.go', '2'],
    ])
  })
})

describe('the key of an MCP server', () => {
  it.each([
    ['GitHub', 'github'],
    ['\u00a0\u2003GITHUB\t\u3000', 'github'],
    ['Cafe\u0301', 'caf\u00e9'],
    ['STRASSE', 'strasse'],
    ['stra\u00dfe', 'strasse'],
    ['\u1e9e', 'ss'],
    ['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c3'],
    ['\u03bf\u03b4\u03bf\u03c2', '\u03bf\u03b4\u03bf\u03c3'],
    ['\ufb01le', 'file'],
    ['\u0130', 'i\u0307'],
    ['\u0131', '\u0131'],
    ['my  server', 'my  server'],
    [' ', ''],
  ])('for %j is %j', async (server, key) => {
    const item = { mcp_by_server: [{ server, invocations: 1 }] }
    const rows = await rowsOf('tools_mcp_servers', day(item), 'server', 'server_key')
    expect(rows).toEqual([[server, key]])
  })

  it('is the same for a Latin, Greek or Cyrillic name in any case', async () => {
    const letters = LETTERS.filter((letter) => letter.toUpperCase().toLowerCase() === letter)
    const entries = (texts: string[]) => texts.map((text) => ({ server: `x${text}x` }))
    const keys = async (texts: string[]) =>
      rowsOf('tools_mcp_servers', day({ mcp_by_server: entries(texts) }), 'server_key')
    const upper = letters.map((letter) => letter.toUpperCase())
    expect(await keys(upper)).toEqual(await keys(letters))
  })
})

describe('the key of a tool', () => {
  it.each([
    ['Read', 'Read', true],
    ['  Read\u00a0', 'Read', true],
    ['mcp__github:search/v1.2@x-y', 'mcp__github:search/v1.2@x-y', true],
    ['Lire\u0301', 'Lir\u00e9', true],
    ['_x', '_x', true],
    ['a'.repeat(128), 'a'.repeat(128), true],
    ['a'.repeat(129), 'a'.repeat(129), false],
    ['"Read"', 'Read', false],
    ['Read</invoke>', 'Read', false],
    ['<Read>', 'Read', false],
    ['<tool>Read</tool>', 'Read', false],
    ['Read: {"file_path": 1}', 'Read', false],
    ['Read file', 'Read', false],
    ['Edit\n<parameter name="x">', 'Edit', false],
    ['9lives', null, false],
    ['???', null, false],
    ['', null, false],
    [null, null, false],
  ])('for %j is %j, clean: %j', async (tool, key, clean) => {
    const columns = ['tool_key', 'is_clean_name'] as const
    const nested = day({ by_tool: [{ tool, invocations: 1 }] })
    expect(await rowsOf('tools_tools', nested, 'tool', ...columns)).toEqual([[tool, key, clean]])
    const grouped = day({ group_key: tool, tool_calls: 1 })
    expect(await rowsOf('tools_by_name', grouped, ...columns)).toEqual([[key, clean]])
  })
})
