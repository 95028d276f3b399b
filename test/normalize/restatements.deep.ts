import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import type { Row } from '../../src/lib/duckdb.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { versionsIn } from '../../src/lake/raw-days.ts'
import { Lake, ORG } from '../support/lake.ts'

const NIGHTS = [
  '2026-01-15T03:00:00.000Z',
  '2026-01-16T03:00:00.000Z',
  '2026-01-17T03:00:00.000Z',
  '2026-01-18T03:00:00.000Z',
] as const

const CHANGES = `select resource, entity_key, metric, old_value, new_value from {restatements}
  where metric is not null order by all`

/** A row with one zero, and the key and metric of that zero. */
const PARTS: readonly (readonly [string, object, string, string])[] = [
  [
    'tokens',
    { by_model: [{ model_id: 'm', billable_tokens: 0 }] },
    'm',
    'by_model.billable_tokens',
  ],
  ['tokens', { by_user: [{ user_id: 'u', input_tokens: 0 }] }, 'u', 'by_user.input_tokens'],
  [
    'tokens',
    { by_user: [{ user_id: 'u', by_model: [{ model_id: 'v/m', output_tokens: 0 }] }] },
    'u/v/m',
    'by_user.by_model.output_tokens',
  ],
  ['tokens_by_model', { group_key: 'm', billable_tokens: 0 }, 'm', 'billable_tokens'],
  ['tools', { by_tool: [{ tool: 'Read', invocations: 0 }] }, 'Read', 'by_tool.invocations'],
  [
    'tools',
    { mcp_by_server: [{ server: 'Linear', invocations: 0 }] },
    'Linear',
    'mcp_by_server.invocations',
  ],
  ['tools', { skills_by_name: [{ name: 's', count: 0 }] }, 's', 'skills_by_name.count'],
  [
    'tools',
    { slash_commands_by_name: [{ name: '/x', count: 0 }] },
    '/x',
    'slash_commands_by_name.count',
  ],
  [
    'tools',
    { hooks_by_event: [{ event: 'Stop', matcher: 'a/b', command: 'c', count: 0 }] },
    'Stop/a%2Fb/c',
    'hooks_by_event.count',
  ],
  [
    'tools',
    { tool_autonomy_level_ratio: { auto_high: 0 } },
    'auto_high',
    'tool_autonomy_level_ratio',
  ],
  ['tools', { web_users: 0 }, 'org/1', 'web_users'],
  ['tools_by_name', { group_key: 'Read', tool_calls: 0 }, 'Read', 'tool_calls'],
  ['activity', { daily_active_users_by_client: { web: 0 } }, 'web', 'daily_active_users_by_client'],
  ['activity_by_client', { group_key: 'web', daily_active_users: 0 }, 'web', 'daily_active_users'],
  ['productivity', { git_commits: 0 }, 'org/1', 'git_commits'],
  ['productivity', { by_language: [{ language: 'Go', count: 0 }] }, 'Go', 'by_language.count'],
  ['productivity', { by_extension: [{ extension: '.go', count: 0 }] }, '.go', 'by_extension.count'],
  ['users', { user_id: 'u', tool_calls: 0 }, 'u', 'tool_calls'],
]

/** One day, restated each night. */
async function restated(resource: string, versions: readonly (readonly unknown[])[]) {
  const lake = await Lake.open()
  for (const [index, items] of versions.entries()) {
    await lake.land(resource, '2026-01-14', NIGHTS[index] ?? '', items)
  }
  await lake.normalize()
  return lake
}

const changes = async (resource: string, versions: readonly (readonly unknown[])[]) =>
  (await (await restated(resource, versions)).rows(CHANGES)).map((row: Row) => [
    row['entity_key'],
    row['metric'],
    row['old_value'],
    row['new_value'],
  ])

describe('a restated day', () => {
  it('gives the changed values with their key and the times when each was fetched', async () => {
    const lake = await restated('users', [
      [
        { user_id: 'u1', sessions: 1, messages: 5, autonomy_ratio: 1.5 },
        { user_id: 'u2', sessions: 9 },
      ],
      [
        { user_id: 'u2', sessions: 9 },
        { user_id: 'u1', sessions: 2, messages: 5, autonomy_ratio: 1.25 },
      ],
    ])
    const rows = await lake.rows('from {restatements} order by metric')
    expect(rows).toMatchObject([
      {
        org_id: 'org/1',
        resource: 'users',
        activity_date: '2026-01-14',
        entity_key: 'u1',
        metric: 'autonomy_ratio',
        old_value: '1.5',
        new_value: '1.25',
        old_fetched_at: '2026-01-15 03:00:00+00',
        new_fetched_at: '2026-01-16 03:00:00+00',
      },
      { metric: 'sessions', old_value: '1', new_value: '2' },
    ])
  })

  it('of the organisation has the organisation’s id as its key', async () => {
    const days = [1, 2].map((sessions) => [{ sessions, messages: 3 }])
    expect(await changes('activity', days)).toEqual([['org/1', 'sessions', '1', '2']])
  })

  it('gives nested metrics by their path, with their key', async () => {
    const lake = await Lake.open()
    for (const [index, [resource, row]] of PARTS.entries()) {
      const day = `2026-01-${14 + index}`
      await lake.land(resource, day, '2026-02-10T03:00:00Z', [row])
      const text = JSON.stringify(row).replace(/:0(?=[,}])/, ':7')
      await lake.land(resource, day, '2026-02-11T03:00:00Z', [text])
    }
    await lake.normalize()
    const rows = await lake.rows(
      `select resource, entity_key, metric, cast(old_value as double) as before,
         cast(new_value as double) as after
       from {restatements} where metric is not null order by activity_date`,
    )
    expect(rows).toEqual(
      PARTS.map(([resource, , entity_key, metric]) => ({
        resource,
        entity_key,
        metric,
        before: 0,
        after: 7,
      })),
    )
  })

  it('gives a user’s added and removed languages', async () => {
    const days = [
      ['C', 'Go'],
      ['Go', 'Rust'],
    ].map((languages) => [{ user_id: 'u1', languages }])
    expect(await changes('users', days)).toEqual([
      ['u1/C', 'languages', 'true', null],
      ['u1/Rust', 'languages', null, 'true'],
    ])
  })

  it('gives no change for another order, spelling or unread field', async () => {
    const versions = [
      ['{"user_id":"u1","sessions":2}', '{"user_id":"u2","sessions":3}'],
      ['{"sessions":3.0,"user_id":"u2","new":1}', '{"sessions": "2","user_id":"u1"}'],
    ]
    expect(await changes('users', versions)).toEqual([])
  })

  it('keeps big integers exact', async () => {
    const versions = ['9007199254740993', '9007199254740992'].map((n) => [`{"sessions":${n}}`])
    expect(await changes('activity', versions)).toEqual([
      ['org/1', 'sessions', '9007199254740993', '9007199254740992'],
    ])
  })
})

describe('a key', () => {
  it('that appears or disappears has NULL as its other value', async () => {
    const versions = [[{ user_id: 'a', sessions: 1 }], [{ user_id: 'b', sessions: 2 }]]
    expect(await changes('users', versions)).toEqual([
      ['a', 'sessions', '1', null],
      ['b', 'sessions', null, '2'],
    ])
  })

  it('that a day has twice is one key with the sum of its counts', async () => {
    const tools = (...counts: number[]) => [
      { by_tool: counts.map((invocations) => ({ tool: 'Read', invocations })) },
    ]
    expect(await changes('tools', [tools(1, 2), tools(2, 1), tools(4)])).toEqual([
      ['Read', 'by_tool.invocations', '3', '4'],
    ])
  })

  it('that a day has twice has the sum of its shares', async () => {
    const day = (share: number) => [`{"tool_autonomy_level_ratio":{"low":0.25,"low":${share}}}`]
    expect(await changes('tools', [day(0.25), day(0.5)])).toEqual([
      ['low', 'tool_autonomy_level_ratio', '0.5', '0.75'],
    ])
  })

  it('that a day has twice has the greatest of its ratios, not their sum', async () => {
    const day = (...ratios: number[]) =>
      ratios.map((autonomy_ratio) => ({ user_id: null, autonomy_ratio, primary_model: 'm' }))
    expect(await changes('users', [day(9.5, 1e-7), day(9.5, 10), day(2, 10)])).toEqual([
      ['(unattributed)', 'autonomy_ratio', '9.5', '10.0'],
    ])
  })

  it('that a day has twice may have texts that look like very long numbers', async () => {
    const tier = '170141183460469231731687303715884105727'
    const day = (model_tier: string) => [
      {
        by_model: [tier, model_tier].map((each) => ({ model_id: 'm', model_tier: each })),
      },
    ]
    expect(await changes('tokens', [day(tier), day(`${tier}0`)])).toEqual([
      ['m', 'by_model.model_tier', tier, `${tier}0`],
    ])
  })

  it('that a day has twice has an exact sum even of the largest counts', async () => {
    const tools = (...counts: string[]) => [
      `{"by_tool":[${counts.map((n) => `{"tool":"Read","invocations":${n}}`).join()}]}`,
    ]
    const most = '9223372036854775807'
    expect(await changes('tools', [tools(most, most), tools(most, most, '-1')])).toEqual([
      ['Read', 'by_tool.invocations', '18446744073709551614', '18446744073709551613'],
    ])
  })

  it('that is missing is (unattributed) or (unnamed)', async () => {
    expect(await changes('users', [[{ sessions: 1 }], [{ sessions: 2 }]])).toEqual([
      ['(unattributed)', 'sessions', '1', '2'],
    ])
    const tool = (count: number) => [{ by_tool: [{ invocations: count }] }]
    expect(await changes('tools', [tool(1), tool(2)])).toEqual([
      ['(unnamed)', 'by_tool.invocations', '1', '2'],
    ])
  })
})

describe('many versions', () => {
  it('are each compared with the previous one, even one that returns to an earlier value', async () => {
    const lake = await restated(
      'activity',
      [1, 2, 2.0, 1].map((sessions, n) => [{ sessions, messages: n }]),
    )
    const rows = await lake.rows(
      `select old_value, new_value, cast(new_fetched_at as date) as known from {restatements}
       where metric = 'sessions' order by new_fetched_at`,
    )
    expect(rows).toEqual([
      { old_value: '1', new_value: '2', known: '2026-01-16' },
      { old_value: '2', new_value: '1', known: '2026-01-18' },
    ])
  })

  it('with an empty one between give a removal and an addition', async () => {
    const day = [{ sessions: 1 }]
    expect(await changes('activity', [day, [], day])).toEqual([
      ['org/1', 'sessions', '1', null],
      ['org/1', 'sessions', null, '1'],
    ])
  })

  it('that are all empty give no change', async () => {
    const lake = await restated('activity', [[], []])
    expect(await lake.rows(CHANGES)).toEqual([])
  })
})

describe('base of restatements', () => {
  it('exists without rows when nothing was restated', async () => {
    const lake = await restated('activity', [[{ sessions: 1 }]])
    expect(await lake.rows('from {restatements}')).toEqual([])
  })

  it('is not written again until a version is added', async () => {
    const lake = await restated('activity', [[{ sessions: 1 }], [{ sessions: 2 }]])
    expect(await lake.normalize()).toBe(0)
    await lake.land('activity', '2026-01-15', '2026-01-16T03:00:00Z', [{ sessions: 4 }])
    await lake.normalize()
    const written = lake.events.filter(({ type }) => type === 'base.written')
    expect(
      written.filter((event) => 'entity' in event && event.entity === 'restatements'),
    ).toHaveLength(1)
  })

  it('takes unchanged days from the existing base file', async () => {
    const lake = await restated('activity', [[{ sessions: 1 }], [{ sessions: 2 }]])
    const folder = rawFolder(lake.data, ORG, 'activity', parseDay('2026-01-14', 'the day'))
    const [older = ''] = versionsIn(folder)
    await writeFile(join(folder, older), 'reading it again would fail')
    await lake.land('activity', '2026-01-15', '2026-01-16T03:00:00Z', [{ sessions: 4 }])
    await lake.land('activity', '2026-01-15', '2026-01-17T03:00:00Z', [{ sessions: 5 }])
    await lake.normalize()
    expect(
      await lake.rows(
        'select activity_date, old_value, new_value from {restatements} order by all',
      ),
    ).toEqual([
      { activity_date: '2026-01-14', old_value: '1', new_value: '2' },
      { activity_date: '2026-01-15', old_value: '4', new_value: '5' },
    ])
  })
})

describe('any history', () => {
  it('gives the changes that a comparison by hand finds', async () => {
    const row = fc.record(
      {
        user_id: fc.constantFrom('a', 'b', 'c'),
        sessions: fc.option(fc.integer({ min: 0, max: 2 })),
        autonomy_ratio: fc.constantFrom(0.5, 1),
        primary_model: fc.constantFrom('m', 'n'),
      },
      { requiredKeys: ['user_id'] },
    )
    const version = fc.uniqueArray(row, { selector: ({ user_id }) => user_id, maxLength: 3 })
    const history = fc.array(version, { minLength: 1, maxLength: 4 })
    const histories = fc.array(history, { minLength: 8, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(histories, async (days) => {
        const lake = await Lake.open()
        for (const [index, versions] of days.entries()) {
          for (const [night, items] of versions.entries()) {
            await lake.land('users', `2026-01-${14 + index}`, NIGHTS[night] ?? '', items)
          }
        }
        await lake.normalize()
        const found = await lake.rows(
          `select concat_ws(' ', extract(day from activity_date) - 14, entity_key, metric,
             coalesce(old_value, '-'), coalesce(new_value, '-'),
             extract(day from new_fetched_at) - 15) as change
           from {restatements} where metric is not null`,
        )
        expect(found.map(({ change }) => change).sort()).toEqual(
          days.flatMap((versions, day) => changesByHand(versions, day)).sort(),
        )
      }),
      { numRuns: 6 },
    )
  })
})

/** `day key metric old new version`, as the rows of the base read. */
function changesByHand(versions: readonly (readonly object[])[], day: number): string[] {
  const values = versions.map((items) => new Map(items.flatMap(metricsOf)))
  return values.slice(1).flatMap((after, index) => {
    const before = values[index] ?? new Map<string, string>()
    const keys = new Set([...before.keys(), ...after.keys()])
    return [...keys]
      .filter((key) => before.get(key) !== after.get(key))
      .map((key) => [day, key, before.get(key) ?? '-', after.get(key) ?? '-', index + 1].join(' '))
  })
}

function metricsOf(row: object): [string, string][] {
  const { user_id: user, ...metrics } = Object.fromEntries(Object.entries(row))
  return Object.entries(metrics).flatMap(([metric, value]): [string, string][] =>
    value === null ? [] : [[`${String(user)} ${metric}`, textOf(metric, value)]],
  )
}

function textOf(metric: string, value: unknown): string {
  return metric === 'autonomy_ratio' && value === 1 ? '1.0' : String(value)
}
