import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/lib/days.ts'
import { DeferredError } from '../../../src/lib/errors.ts'
import { compareFacts, type FactTable } from '../../../src/serve/verify/compare.ts'
import { Database } from '../../../src/lib/duckdb.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const FACT: FactTable = {
  name: 'fct_x',
  relation: 'main.fct_x',
  columns: ['org_id', 'activity_date', 'name', 'n', 'r'],
  key: ['org_id', 'activity_date', 'name'],
}

const TABLE = `create table fct_x (
  org_id varchar, activity_date date, name varchar, n bigint, r double)`

/** Rows of the warehouse as SQL tuples, and those of the platform or a statement that makes them. */
async function compare(
  warehouse: readonly string[],
  platform: readonly string[] | string,
  signal = new AbortController().signal,
) {
  const folder = await temporaryFolder()
  const path = join(folder, 'warehouse.duckdb')
  const fill = (rows: readonly string[]): string =>
    rows.length === 0 ? TABLE : `${TABLE}; insert into fct_x values ${rows.join(', ')}`
  const database = await Database.open(path)
  await database.run(`${fill(warehouse)}; checkpoint`)
  database.close()
  const days = ['2026-01-15', '2026-01-16'] as Day[]
  return compareFacts({
    warehouse: path,
    intervals: days.map((day) => ({ orgId: 'o', resource: 'x', day, isLanded: true })),
    makeFacts: async (memory) => {
      await memory.run(typeof platform === 'string' ? platform : fill(platform))
      return [FACT]
    },
    tempDirectory: folder,
    signal,
  })
}

const row = (day: string, name: string | null, n: string, r: string, org = 'o'): string =>
  `('${org}', '${day}', ${name === null ? 'null' : `'${name}'`}, ${n}, ${r})`

const A = row('2026-01-15', 'a', '1', '0.5')

describe('the comparison of verify', () => {
  it('ends when its signal aborts', async () => {
    const stop = new AbortController()
    const slow = `create view fct_x as
      select 'o' as org_id, date '2026-01-15' as activity_date, 'a' as name, 1::bigint as n, i as r
      from range(1000000000000) as a (i) where i < 0`
    const comparing = compare([A], slow, stop.signal)
    setImmediate(() => {
      stop.abort(new DeferredError('stopped'))
    })
    await expect(comparing).rejects.toThrow('stopped')
  })

  it('counts compared rows, and finds equal rows equal: NULL, big integers, duplicates', async () => {
    const rows = [
      A,
      A,
      row('2026-01-16', null, 'null', 'null'),
      row('2026-01-16', 'b', '9007199254740993', '0.1'),
    ]
    expect(await compare(rows, rows.toReversed())).toEqual({
      tables: 1,
      rows: 4,
      values: 20,
      differences: [],
    })
  })

  it.each([
    ['NULL in the warehouse differs from 0', 'null', '0', '0.5', '0.5', ['n', null, '0']],
    ['0 in the warehouse differs from NULL', '0', 'null', '0.5', '0.5', ['n', '0', null]],
    [
      'the last digit of a big integer',
      '9007199254740993',
      '9007199254740992',
      '0.5',
      '0.5',
      ['n', '9007199254740993', '9007199254740992'],
    ],
    [
      'the last bit of a ratio',
      '1',
      '1',
      '0.30000000000000004',
      '0.3',
      ['r', '0.30000000000000004', '0.3'],
    ],
  ])('%s', async (_, n, m, r, s, [column, warehouse, platform]) => {
    const { differences } = await compare(
      [row('2026-01-15', 'a', n, r)],
      [row('2026-01-15', 'a', m, s)],
    )
    expect(differences).toEqual([
      {
        table: 'fct_x',
        orgId: 'o',
        day: '2026-01-15',
        key: { name: 'a' },
        kind: 'value',
        column,
        warehouse,
        platform,
      },
    ])
  })

  it.each([
    ['a row that only the platform has', [], [A], 'missing'],
    ['a row that only the warehouse has', [A], [], 'extra'],
    ['a row that stands twice here', [A, A], [A], 'extra'],
    ['a row that stands twice there', [A], [A, A], 'missing'],
  ])('reports %s', async (_, warehouse, platform, kind) => {
    const { differences } = await compare(warehouse, platform)
    expect(differences).toEqual([
      expect.objectContaining({ kind, key: { name: 'a' }, column: null }),
    ])
  })

  it('reports very many rows, as of a warehouse that lacks days of a large organisation', async () => {
    const platform = `create table fct_x as
      select 'o' as org_id, date '2026-01-15' as activity_date, 'k' || i as name, i as n,
        0.5::double as r
      from range(140000) as a (i)`
    expect((await compare([], platform)).differences).toHaveLength(140_000)
  })

  it('matches rows without a name with each other', async () => {
    const { differences } = await compare(
      [row('2026-01-15', null, '1', '1')],
      [row('2026-01-15', null, '2', '1')],
    )
    expect(differences).toEqual([expect.objectContaining({ key: { name: null }, column: 'n' })])
  })

  it('ignores other days and other organisations', async () => {
    const others = [row('2026-01-17', 'a', '1', '1'), row('2026-01-15', 'a', '1', '1', 'p')]
    expect(await compare([A, ...others], [A])).toMatchObject({ rows: 1, differences: [] })
    expect(await compare([A], [A, ...others])).toMatchObject({ rows: 1, differences: [] })
  })
})
