import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { baseGlob } from '../../src/lake/layout.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** Names that a row has twice; the second value is of another day, another type, or unknown. */
const REPEATED: Readonly<Record<string, readonly [first: string, second: string]>> = {
  tools: [
    '"date":"2026-01-14","tool_calls":41,"tool_autonomy_level_ratio":{"a":0.25,"a":0.75}',
    '"date":"2026-01-15","tool_calls":"many"',
  ],
  users: ['"date":"2026-01-14","user_id":"first","sessions":3', '"user_id":"second","sessions":4'],
}

it('of a name that an object has twice, raw keeps both values, and everything else reads the first', async () => {
  const now = Date.parse('2026-01-18T05:00:00Z')
  const emulator = await startEmulator({
    users: 5,
    seed: 1,
    now: () => now,
    intercept: ({ path, query }) => {
      const [first, second] = REPEATED[path.split('/').at(-1) ?? ''] ?? []
      if (first === undefined || query.get('startDate') !== '2026-01-14') return undefined
      return new Response(`{"data":[{${first},${String(second)}}],"meta":{"has_more":false}}`, {
        headers: { 'content-type': 'application/json' },
      })
    },
  })
  onTestFinished(() => emulator.close())
  const data = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
  }
  const days = ['--from', '2026-01-14', '--to', '2026-01-14']
  const synced = await command(['sync', ...days, '--only', 'tools,users'], environment)
  expect(synced, synced.err).toMatchObject({ code: 0 })

  await using database = await Database.open(':memory:')
  const rowsOf = (sql: string) => database.rows(sql)
  for (const [resource, served] of Object.entries(REPEATED)) {
    const raw = literal(join(data, 'lake', 'raw', resource, '*', 'date=2026-01-14', '*.parquet'))
    expect(await rowsOf(`select item from read_parquet(${raw})`)).toEqual([
      { item: `{${served.join(',')}}` },
    ])
  }
  const base = (entity: string): string => literal(baseGlob(data, entity))
  expect(await rowsOf(`select tool_calls from ${base('tools_days')}`)).toEqual([
    { tool_calls: '41' },
  ])
  expect(await rowsOf(`select user_id, sessions from ${base('users')}`)).toEqual([
    { user_id: 'first', sessions: '3' },
  ])
  expect(await rowsOf(`select share from ${base('tools_autonomy_levels')}`)).toEqual([
    { share: 0.25 },
  ])
  const drift = await rowsOf(
    `select distinct path, kind from ${base('schema_drift')} where kind not in ('missing', 'unknown') order by all`,
  )
  expect(drift).toEqual([])
})
