import { execFile } from 'node:child_process'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../model/fixture.ts'
import { buildLake } from '../model/lake-build.ts'
import { Lake } from '../support/lake.ts'
import { land, rowsIn, told } from './golden-case.ts'

const CASE = join(packageRoot, 'test', 'golden', 'weeks')
const SCRIPT = join(packageRoot, 'test', 'golden', 'script', 'expect-marts.mjs')
const tables = (await readdir(join(CASE, 'expected'))).map((file) => file.replace('.ndjson', ''))

let lake: Lake
beforeAll(async () => {
  lake = await Lake.open(await temporaryFolder())
  for (const fetched of (await readdir(join(CASE, 'input'))).sort()) {
    await land(lake, join(CASE, 'input'), fetched)
  }
  await cp(join(CASE, 'seeds'), join(lake.data, 'seeds'), { recursive: true })
  await buildLake(lake, parseDay('2027-02-09', 'the last day'))
})

/**
 * A first week of five days, ISO week 53, a day that is missing, a user who leaves and returns,
 * one who changes team in mid-week and mid-month, a month with one active day.
 */
describe('the golden lake of weeks', () => {
  it.each(tables)('makes the rows of %s that an independent script expects', async (table) => {
    const database = await Database.open(join(lake.data, 'warehouse.duckdb'), { readOnly: true })
    try {
      const rows = await database.rows(`from main.${table}`)
      expect(told(rows)).toEqual(told(await rowsIn(join(CASE, 'expected'), table)))
    } finally {
      database.close()
    }
  })

  it('is expected as the script says', async () => {
    const folder = await temporaryFolder()
    await promisify(execFile)(process.execPath, [SCRIPT, 'weeks', folder])
    expect((await readdir(folder)).sort()).toEqual(tables.map((table) => `${table}.ndjson`))
    for (const table of tables) {
      expect(await rowsIn(folder, table)).toEqual(await rowsIn(join(CASE, 'expected'), table))
    }
  })
})
