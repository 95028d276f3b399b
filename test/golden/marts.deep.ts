import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { folderOfFile } from '../support/folders.ts'
import { buildLake } from '../model/lake-build.ts'
import { Lake } from '../support/lake.ts'
import { expectPrinted, linesOf, rowsIn, unansweredBy } from './golden-case.ts'
import { landGolden } from './land.ts'

const CASE = join(packageRoot, 'test', 'golden', 'weeks')
const tables = (await readdir(join(CASE, 'expected'))).map((file) => file.replace('.ndjson', ''))

/** The lake has neither clients nor licences, and no day that changed. */
const UNANSWERED = ['licence_cost', 'multi_client_users', 'restated_days']

let lake: Lake
beforeAll(async () => {
  lake = await Lake.open(await folderOfFile())
  await landGolden(lake, CASE)
  await cp(join(CASE, 'seeds'), join(lake.data, 'seeds'), { recursive: true })
  await buildLake(lake, parseDay('2027-02-14', 'the last day'))
})

async function published(sql: string): Promise<Row[]> {
  const database = await Database.open(join(lake.data, 'warehouse.duckdb'), { readOnly: true })
  try {
    return await database.rows(sql)
  } finally {
    database.close()
  }
}

/**
 * A first week of five days, ISO week 53, a day that is missing, a user who leaves and returns,
 * two who change team in mid-week and mid-month, a month with one active day, a policy changed at
 * noon, a month without a limit, a limit of 0.
 */
describe('the golden lake of weeks', () => {
  it.each(tables)('makes the rows of %s that an independent script expects', async (table) => {
    const left = table === 'mart_data_health' ? 'drift_findings' : ''
    const rows = await published(`from main.${table}`)
    const compared = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name !== left)),
    )
    expect(linesOf(compared)).toEqual(linesOf(await rowsIn(join(CASE, 'expected'), table)))
  })

  it('has rows to expect for every mart', async () => {
    const found = await published(`select table_name as name from duckdb_tables()
      where schema_name = 'main' and starts_with(table_name, 'mart_') order by 1`)
    expect(found.map(({ name }) => name)).toEqual(tables)
  })

  it('answers every ready-made question whose comment does not say why it may be empty', async () => {
    expect(await unansweredBy(published)).toEqual(UNANSWERED)
  })

  it('has the drift of base in mart_data_health', async () => {
    const found = await lake.rows(`select count(*) as drift_findings from (
      select distinct resource, path, kind from {schema_drift} where path is not null)`)
    expect(found).not.toEqual([{ drift_findings: '0' }])
    expect(await published('select drift_findings from main.mart_data_health')).toEqual(found)
  })

  it('is expected to have the rows that the script prints', async () => {
    await expectPrinted('expect-marts.mjs', 'weeks')
  })
})
