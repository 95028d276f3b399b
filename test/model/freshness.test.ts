import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { BuildResult } from '../../src/model/build/build.ts'
import { readSourceFreshness } from '../../src/serve/warehouse.ts'
import { Bench, TINY, type Files } from './fixture.ts'

const HOUR = 3_600_000
/** The time of the builds of `Bench`. */
const NOW = Date.UTC(2026, 0, 31, 2)

/** The tiny project with the config of its source, as yml. */
function expected(config: string): Files {
  const yml = TINY['models/staging/_sources.yml'] ?? ''
  return { ...TINY, 'models/staging/_sources.yml': `${yml}        config: ${config}\n` }
}

/** A source whose newest row was loaded so many hours ago. */
const loaded = (hours: number): string =>
  `loaded_at_field: "timestamptz '${new Date(NOW - hours * HOUR).toISOString()}'"`

const LIMITS =
  'freshness: {warn_after: {count: 12, period: hour}, error_after: {count: 2, period: day}}'

function statuses({ freshness }: BuildResult): unknown[] {
  return freshness.map(({ source, table, status }) => [source, table, status])
}

function warnings({ events }: Bench): string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
}

it.each([
  [1, 'pass', []],
  [
    13,
    'warn',
    [
      'source platform.users is stale: its newest row was fetched 13 hours ago, expected within 12 hours',
    ],
  ],
  [
    100,
    'error',
    [
      'source platform.users is stale: its newest row was fetched 4 days ago, expected within 12 hours',
    ],
  ],
])(
  'a source that was loaded %i hours ago is %s, and the warehouse is published',
  async (...row) => {
    const [hours, status, messages] = row
    const bench = await Bench.open()
    const result = await bench.build(expected(`{${LIMITS}, ${loaded(hours)}}`))
    expect(statuses(result)).toEqual([['platform', 'users', status]])
    expect(warnings(bench)).toEqual(messages)
    expect(await bench.rows('select status from meta.source_freshness')).toEqual([{ status }])
  },
)

it('a build of an earlier point in time judges freshness as of then', async () => {
  const bench = await Bench.open()
  const asOf = NOW - 99 * HOUR
  const { freshness } = await bench.build(expected(`{${LIMITS}, ${loaded(100)}}`), { asOf })
  expect(freshness).toMatchObject([{ status: 'pass' }])
  expect(warnings(bench)).toEqual([])
})

it('freshness is computed from a column or expression', async () => {
  const bench = await Bench.open()
  const config = `{loaded_at_field: "timestamptz '2026-01-30 00:00:00Z' + to_hours(cast(sessions as int))",
          freshness: {warn_after: {count: 1, period: day}}}`
  const { freshness } = await bench.build(expected(config))
  expect(freshness).toMatchObject([
    { loadedAt: Date.UTC(2026, 0, 30, 5), status: 'pass', rule: { warnAfterSeconds: 86_400 } },
  ])
})

it('freshness passes for a source without rows', async () => {
  const bench = await Bench.open()
  const config = `{loaded_at_field: "timestamptz '2025-01-01'",
          freshness: {warn_after: {count: 1, period: day}}}`
  await bench.land("('a', 'u1', 0) limit 0")
  expect(statuses(await bench.build(expected(config)))).toEqual([['platform', 'users', 'pass']])
  expect(await readSourceFreshness(bench.target, NOW)).toEqual([])
})

it('freshness is computed again each time it is read', async () => {
  const bench = await Bench.open()
  await bench.build(expected(`{${LIMITS}, ${loaded(1)}}`))
  expect(await readSourceFreshness(bench.target, NOW + 12 * HOUR)).toEqual([
    {
      source: 'platform.users',
      loadedAt: '2026-01-31T01:00:00.000Z',
      ageSeconds: 13 * 3600,
      warnAfterSeconds: 12 * 3600,
      errorAfterSeconds: 48 * 3600,
      status: 'warn',
    },
  ])
  expect(await readSourceFreshness(`${bench.target}.none`, NOW)).toEqual([])
})

it.each([
  [
    'limits without a time',
    `{${LIMITS}}`,
    "_sources.yml:4: it is not known when a row of 'users' was loaded",
  ],
  [
    'an unknown period',
    '{freshness: {warn_after: {count: 1, period: week}}}',
    '_sources.yml:5: sources.0',
  ],
  [
    'an unknown column',
    `{${LIMITS}, loaded_at_field: loaded}`,
    "_sources.yml:4: freshness of 'users': Binder",
  ],
])('a freshness config is refused with file and line: %s', async (_, config, message) => {
  const bench = await Bench.open()
  await expect(bench.build(expected(config))).rejects.toThrow(message)
})

it('freshness is in sources.json, even after a failed build', async () => {
  const bench = await Bench.open()
  const folder = join(bench.data, 'target')
  const files = expected(`{${LIMITS}, ${loaded(13)}}`)
  const broken = { ...files, 'tests/never.sql': "select * from {{ ref('fct_user') }}" }
  const artifacts = { folder, builder: 'test' }
  await expect(bench.build(broken, { artifacts })).rejects.toThrow('a check failed')
  const sources: unknown = JSON.parse(await readFile(join(folder, 'sources.json'), 'utf8'))
  expect(sources).toMatchObject({
    results: [
      {
        unique_id: 'source.tiny.platform.users',
        max_loaded_at: '2026-01-30T13:00:00.000Z',
        status: 'warn',
        criteria: {
          warn_after: { count: 720, period: 'minute' },
          error_after: { count: 2880, period: 'minute' },
        },
      },
    ],
  })
})
