import { describe, expect, test } from 'vitest'
import { expectedMarts } from './expected.ts'
import { answersOf, DAY, valuesOf } from './samples.ts'

const NEXT = '2026-02-02'

function toolsOf(...rows: string[]): ReturnType<typeof expectedMarts> {
  const days = [DAY, NEXT]
  const dated = rows.map((row, index) => `{"date":"${days[index]}",${row}}`)
  return expectedMarts(answersOf({ tools: `[${dated.join(',')}]` }))
}

describe('fct_tool_day', () => {
  test('assigns an artifact to the tool it begins with, if any day has that tool', () => {
    const marts = toolsOf(
      `"tool_calls":20,"by_tool":[{"tool":"Read","invocations":5},{"tool":"<tool>Read</tool>","invocations":1},
        {"tool":"Edit {","invocations":2},{"tool":"Ghost>","invocations":3},{"tool":"","invocations":4}]`,
      `"tool_calls":1,"by_tool":[{"tool":"Edit","invocations":1}]`,
    )
    expect(valuesOf(marts.fct_tool_day, 'activity_date', 'tool_name', 'invocations')).toEqual([
      [DAY, 'Read', 6n],
      [DAY, 'Edit', 2n],
      [DAY, '(unparsed)', 7n],
      [DAY, '(unattributed)', 5n],
      [NEXT, 'Edit', 1n],
    ])
    expect(valuesOf(marts.dim_tool, 'tool_name', 'is_unparsed')).toEqual([
      ['(unparsed)', true],
      ['Edit', false],
      ['Read', false],
    ])
  })

  test('has no residual when the parts exceed the total', () => {
    const marts = toolsOf('"tool_calls":1,"by_tool":[{"tool":"Read","invocations":5}]')
    expect(valuesOf(marts.fct_tool_day, 'tool_name')).toEqual([['Read']])
  })

  test('uses the grouped rows for a day without by_tool', () => {
    const { fct_tool_day: table } = expectedMarts(
      answersOf({ toolsByName: `[{"date":"${DAY}","group_key":"Read","tool_calls":3}]` }),
    )
    expect(valuesOf(table, 'tool_name', 'invocations')).toEqual([['Read', 3n]])
  })
})

describe('MCP servers', () => {
  const marts = toolsOf(
    `"mcp_by_server":[{"server":"GitHub","invocations":3},{"server":"github ","invocations":4},
      {"server":"Cafe\\u0301","invocations":1},{"server":"CAF\\u00c9","invocations":1}]`,
    `"mcp_by_server":[{"server":"GitHub","invocations":2},{"server":"github","invocations":null}]`,
  )

  test('are one server in every spelling', () => {
    const columns = ['activity_date', 'mcp_server', 'invocations']
    expect(valuesOf(marts.fct_mcp_server_day, ...columns)).toEqual([
      [DAY, 'github', 7n],
      [DAY, 'caf\u00e9', 2n],
      [NEXT, 'github', 2n],
    ])
  })

  test('have their most used spelling', () => {
    expect(valuesOf(marts.dim_mcp_server, 'mcp_server', 'display_name', 'spelling_count')).toEqual([
      ['caf\u00e9', { anyOf: ['Cafe\u0301', 'CAF\u00c9'] }, 2n],
      ['github', 'GitHub', 3n],
    ])
  })
})

test('skills and slash commands add up by name as served', () => {
  const marts = toolsOf(
    `"skills_by_name":[{"name":"review","count":1},{"name":"Review","count":2},{"name":"review","count":"3"}],
     "slash_commands_by_name":[{"name":"/clear","count":null}]`,
  )
  expect(valuesOf(marts.fct_skill_day, 'skill_name', 'invocations')).toEqual([
    ['review', 4n],
    ['Review', 2n],
  ])
  expect(valuesOf(marts.fct_slash_command_day, 'command_name', 'invocations')).toEqual([
    ['/clear', null],
  ])
})

test('a hook without matcher or command has NULL there, and an empty one stays empty', () => {
  const marts = toolsOf(
    `"hooks_by_event":[{"event":"Stop","count":1},{"event":"Stop","matcher":null,"command":"","count":2},
      {"event":"Stop","matcher":"*","command":"a.sh","count":3}]`,
  )
  expect(valuesOf(marts.fct_hook_day, 'hook_event', 'matcher', 'command', 'invocations')).toEqual([
    ['Stop', null, null, 1n],
    ['Stop', null, '', 2n],
    ['Stop', '*', 'a.sh', 3n],
  ])
})

test('a total beyond its skills, commands or hooks may be a row of its own', () => {
  const marts = toolsOf(
    `"skills_invocations":5,"skills_by_name":[{"name":"review","count":2}],
     "slash_commands_invocations":2,"slash_commands_by_name":[{"name":"/clear","count":2}],
     "hooks_invocations":9007199254740993`,
  )
  const optional = (
    name: 'fct_skill_day' | 'fct_slash_command_day' | 'fct_hook_day',
  ): unknown[] => [...marts[name].optionalRows.values()]
  const day = { org_id: 'org-1', activity_date: DAY }
  expect(optional('fct_skill_day')).toEqual([
    { ...day, skill_name: '(unattributed)', invocations: 3n },
  ])
  expect(optional('fct_slash_command_day')).toEqual([])
  expect(optional('fct_hook_day')).toEqual([
    {
      ...day,
      hook_event: '(unattributed)',
      matcher: null,
      command: null,
      invocations: 9007199254740993n,
    },
  ])
})

test('an autonomy level has the spelling of delegation_level', () => {
  const marts = toolsOf('"tool_autonomy_level_ratio":{"auto_high":0.25,"manual":0,"auto_low":null}')
  expect(valuesOf(marts.fct_autonomy_level_day, 'autonomy_level', 'share')).toEqual([
    ['auto-high', 0.25],
    ['manual', 0],
  ])
})

describe('clients', () => {
  test.each([
    ['nobody', 0, {}, [0n, { anyOf: [null, 0n] }, { anyOf: [null, 0n] }, { anyOf: [null, 0n] }]],
    ['one client', 5, { web: 5, 'terminal-ui': 0 }, [5n, 5n, 0n, 0n]],
    ['two clients', 5, { web: 5, 'terminal-ui': 3 }, [5n, 8n, 3n, 3n]],
    ['three clients', 5, { web: 5, 'terminal-ui': 3, api: 2 }, [5n, 10n, 3n, 5n]],
    ['a client too few', 9, { web: 5, 'terminal-ui': 3, api: 1 }, [9n, 9n, 0n, 0n]],
    ['a user of no client', 12, { web: 5, 'terminal-ui': 3, api: 1 }, [12n, 9n, null, null]],
    ['a user of every client', 1, { web: 1, 'terminal-ui': 1, api: 1 }, [1n, 3n, 1n, 1n]],
    ['more users of clients than there are', 5, { web: 9, api: 9 }, [5n, 18n, null, null]],
  ])('overlap: %s', (_, users, clients, values) => {
    const { fct_client_overlap_day: table } = expectedMarts(
      answersOf({
        activity: JSON.stringify([
          { date: DAY, daily_active_users: users, daily_active_users_by_client: clients },
        ]),
      }),
    )
    const row = [...table.rows.values(), ...table.optionalRows.values()][0] ?? {}
    expect([
      row['daily_active_users'],
      row['client_memberships'],
      row['multi_client_users_min'],
      row['multi_client_users_max'],
    ]).toEqual(values)
  })

  test('are rows, also with zero', () => {
    const { fct_client_day: table } = expectedMarts(
      answersOf({
        activity: `[{"date":"${DAY}","daily_active_users_by_client":{"web":0,"api":"2"}}]`,
      }),
    )
    expect(valuesOf(table, 'client', 'daily_active_users')).toEqual([
      ['web', 0n],
      ['api', 2n],
    ])
  })
})

test('languages and extensions add up by name', () => {
  const marts = expectedMarts(
    answersOf({
      productivity: `[{"date":"${DAY}","by_language":[{"language":"go","count":1},{"language":"go","count":2}],
        "by_extension":[{"extension":".go","count":3},{"extension":"","count":1}]}]`,
    }),
  )
  expect(valuesOf(marts.fct_language_day, 'language', 'file_operations')).toEqual([['go', 3n]])
  expect(valuesOf(marts.fct_extension_day, 'extension', 'file_operations')).toEqual([
    ['.go', 3n],
    ['', 1n],
  ])
})
