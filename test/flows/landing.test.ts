import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { Lake } from '../support/lake.ts'
import { DATE, inRange, platform, TODAY } from './landing-platform.ts'
import { ledgerOf, readLake, syncFrom } from './platform.ts'

const TOKENS_DAY = '2026-01-15'
const TOKENS = `{"date":"${TOKENS_DAY}","n":1e3}`

describe('landing', () => {
  it('keeps every row of a response that is larger than the memory buffer, and no temporary file', async () => {
    const data = await temporaryFolder()
    const row = (day: string): string => `{"date":"${day}","n":1.0,"s":"é${day.repeat(90_000)}"}`
    const days = ['2026-01-14', '2026-01-15', '2026-01-16']
    const rows = days.flatMap((day) => [row(day), `{"date":"${day}"}`])
    const { url, requests } = await testServer(platform(() => rows))
    const { result } = await syncFrom(url, data, { only: ['tools'], world: testWorld(TODAY) })
    expect(result).toMatchObject({ landed: 3, failed: 0 })
    expect(requests.filter((request) => request.includes('/tools'))).toHaveLength(1)
    const landed = await readLake(
      data,
      `select item, ordinal from '{lake}/raw/tools/*/date=*/*.parquet' order by filename, ordinal`,
    )
    expect(landed.map(({ item }) => item)).toEqual(rows)
    expect(landed.map(({ ordinal }) => ordinal)).toEqual(['0', '1', '0', '1', '0', '1'])
    expect(await readdir(join(data, 'state', 'parts'))).toEqual([])
  })

  it('law 1: keeps every row byte for byte, one folder per day, and an empty day as a file without rows', async () => {
    const data = await temporaryFolder()
    const days = {
      '2026-01-14':
        '{ "z":1e3, "date":"2026-01-14","big":9007199254740993,"one":1.0,"half":0.1000}',
      '2026-01-16':
        '{"date":"2026-01-16","text":"\\u00e9\\ud83d\\ude00 é 😀 \\/ \\"}]","n":{"b":1,"a":[ ]}}',
    }
    const { url } = await testServer(platform((_, query) => inRange(query, days)))
    const { result } = await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })

    expect(result).toMatchObject({ orgId: 'org/1', landed: 3, failed: 0, stoppedBy: null })
    const rows = await readLake(
      data,
      `select item, ordinal, page, request, request_id, run_id,
         fetched_at at time zone 'UTC' = timestamp '2026-01-17 06:00:00' as at_server_time
       from '{lake}/raw/tokens/org=org%2F1/date=*/*.parquet' order by filename`,
    )
    expect(rows.map((row) => row['item'])).toEqual(Object.values(days))
    expect(rows[0]).toMatchObject({
      ordinal: '0',
      page: '1',
      request: '/api/v1/analytics/tokens?startDate=2026-01-14&endDate=2026-01-16',
      request_id: 'req-1',
      at_server_time: true,
    })
    const empty = join(data, 'lake', 'raw', 'tokens', 'org=org%2F1', 'date=2026-01-15')
    const [file] = await readdir(empty)
    expect(await readLake(data, `select count(*) as n from '${join(empty, file ?? '')}'`)).toEqual([
      { n: '0' },
    ])
    const ledger = await ledgerOf(data, 'org/1')
    expect(
      [...ledger.values()].map(({ day, status, rowCount }) => [day, status, rowCount]),
    ).toEqual([
      ['2026-01-14', 'landed', 1],
      ['2026-01-15', 'empty', 0],
      ['2026-01-16', 'landed', 1],
    ])
  })

  it('leaves no temporary file', async () => {
    const data = await temporaryFolder()
    const { url } = await testServer(platform(() => []))
    await syncFrom(url, data, { world: testWorld(TODAY) })
    const files = await readdir(data, { recursive: true })
    expect(files.filter((name) => name.endsWith('.part') || name.endsWith('.ndjson'))).toEqual([
      'state/ledger/org%2F1.ndjson',
    ])
  })

  it('law 2: sends only the identifying request when nothing is due', async () => {
    const data = await temporaryFolder()
    const { url, requests } = await testServer(platform(() => []))
    await syncFrom(url, data, { world: testWorld(TODAY) })
    const before = requests.length
    const { result } = await syncFrom(url, data, { world: testWorld(TODAY + 60_000) })
    expect(result).toMatchObject({ landed: 0, failed: 0 })
    expect(requests.length - before).toBe(1)
  })

  it('keeps a restated day as a second version, and an unchanged one as it is', async () => {
    const data = await temporaryFolder()
    let value = 1
    const { url } = await testServer(
      platform((_, query) =>
        inRange(query, {
          '2026-01-15': `{"date":"2026-01-15","billable_tokens":${value}}`,
          '2026-01-16': '{"date":"2026-01-16","billable_tokens":5}',
        }),
      ),
    )
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })
    value = 2
    const plan = { refetch: true }
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY + 5_000), plan })
    const ledger = await ledgerOf(data, 'org/1')
    expect(ledger.get('tokens/2026-01-15')).toMatchObject({ versions: 2, attempts: 2 })
    expect(ledger.get('tokens/2026-01-16')).toMatchObject({ versions: 1, attempts: 2 })
  })

  it('does not count another order of rows as a change', async () => {
    const data = await temporaryFolder()
    const rows = ['{"user_id":"a","date":"2026-01-16"}', '{"user_id":"b","date":"2026-01-16"}']
    const { url } = await testServer(
      platform((_, query) => (query.get('startDate') === '2026-01-16' ? rows : [])),
    )
    const options = { only: ['users'], plan: { refetch: true } }
    await syncFrom(url, data, { ...options, world: testWorld(TODAY) })
    rows.reverse()
    await syncFrom(url, data, { ...options, world: testWorld(TODAY + 5_000) })
    expect((await ledgerOf(data, 'org/1')).get('users/2026-01-16')).toMatchObject({ versions: 1 })
  })

  it('law 1: keeps every row of raw below a folder whose name is like a partition', async () => {
    const data = join(await temporaryFolder(), 'item=x', 'shelf=y')
    const { url } = await testServer(
      platform((_, query) => inRange(query, { [TOKENS_DAY]: TOKENS })),
    )
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })
    const [row, ...others] = await readLake(
      data,
      `from read_parquet('{lake}/raw/tokens/*/date=${TOKENS_DAY}/*.parquet', hive_partitioning = false)`,
    )
    expect(others).toEqual([])
    expect(row).toMatchObject({ item: TOKENS })
    expect(Object.keys(row ?? {})).not.toContain('shelf')
  })

  it('law 11: escapes the organisation’s id in paths', async () => {
    const data = await temporaryFolder()
    const { url } = await testServer((_, response) => {
      sendJson(response, 200, { data: [], meta: { org_id: '../../x' } }, { date: DATE })
    })
    await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })
    expect(await readdir(join(data, 'lake', 'raw', 'tokens'))).toEqual(['org=%2E%2E%2F%2E%2E%2Fx'])
  })
})

describe('law 13: a deeply nested row', () => {
  const nested = (levels: number, begin: string, end: string): string =>
    `{"date":"2026-01-15","n":${begin.repeat(levels)}1${end.repeat(levels)}}`
  const rows = (row: string) =>
    platform((endpoint, query) =>
      endpoint === 'tools'
        ? inRange(query, {
            '2026-01-14': '{"date":"2026-01-14"}',
            '2026-01-15': row,
            '2026-01-16': '{"date":"2026-01-16"}',
          })
        : [],
    )

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('lands with 10,000 levels of %s, and fails its day alone with 120,000', async (_, b, e) => {
    for (const levels of [10_000, 120_000]) {
      const data = await temporaryFolder()
      const { url } = await testServer(rows(nested(levels, b, e)))
      const { result } = await syncFrom(url, data, { only: ['tools'], world: testWorld(TODAY) })
      const isGood = levels === 10_000
      expect(result).toMatchObject({ landed: isGood ? 3 : 2, failed: isGood ? 0 : 1 })
      const failed = (await ledgerOf(data, 'org/1')).get('tools/2026-01-15')
      if (!isGood) expect(failed?.error).toContain('a value is nested deeper than 12000 levels')
    }
  })

  it('that an earlier version landed too deep does not end the process of a build', async () => {
    const lake = await Lake.open()
    const deep = nested(120_000, '{"a":', '}')
    const settings = `{"revision":1,"settings":{"a":${'{"a":'.repeat(120_000)}1${'}'.repeat(120_001)}}`
    await lake.land('tools', '2026-01-15', '2026-01-16T03:00:00Z', [deep])
    await lake.land('tools', '2026-01-16', '2026-01-17T03:00:00Z', [nested(10_000, '{"a":', '}')])
    await lake.land('enterprise_controls', '2026-01-15', '2026-01-16T03:00:00Z', [settings])
    await lake.normalize()
    expect(await lake.rows('select count(*) as n from {tools_days}')).toEqual([{ n: '2' }])
    expect(await lake.rows('select count(*) as n from {controls_settings}')).toEqual([{ n: '1' }])
  })
})

describe('today', () => {
  it('comes from the platform’s clock, whatever the local clock says', async () => {
    const data = await temporaryFolder()
    const { url, requests } = await testServer(platform(() => []))
    const world = testWorld(TODAY + 40 * 86_400_000)
    await syncFrom(url, data, { only: ['tokens'], world })
    expect(requests.at(-1)).toContain('startDate=2026-01-14&endDate=2026-01-16')
    expect(world.events).toContainEqual(expect.objectContaining({ type: 'warning' }))
  })
})

it('an organisation that is named in a later response keeps its folder, and its id from then on', async () => {
  const data = await temporaryFolder()
  let name: string | null = null
  const { url } = await testServer(
    platform(
      () => [],
      () => name,
    ),
  )
  const sync = async (as: string | null) => {
    name = as
    return (await syncFrom(url, data, { only: ['tokens'], world: testWorld(TODAY) })).result
  }
  const unnamed = await sync(null)
  expect(unnamed).toMatchObject({ landed: 3, stoppedBy: null })
  expect(await sync('org/1')).toMatchObject({ orgId: unnamed.orgId, landed: 0, stoppedBy: null })
  expect(String((await sync('org/2')).stoppedBy)).toContain("belongs to the organisation 'org/2'")
})
