import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { baseFile, NO_ORGANISATION } from '../../src/lake/layout.ts'
import { intervalKey, LedgerFile } from '../../src/lake/ledger.ts'
import { parseDay } from '../../src/lib/days.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { BASE_ENTITIES } from '../../src/normalize/base-entities.ts'
import { digestOfStatements } from '../../src/normalize/base-plan.ts'
import { BaseEngine, type Worker } from '../../src/normalize/batch.ts'
import { normalize } from '../../src/normalize/normalize.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { Lake, ORG } from '../support/lake.ts'

it('base of a month whose days are gone is written without rows', async () => {
  const lake = await Lake.open()
  await lake.land('activity', '2026-02-03', '2026-02-04T03:00:00Z', [{ sessions: 1 }])
  await lake.land('activity', '2026-02-03', '2026-02-05T03:00:00Z', [{ sessions: 2 }])
  await lake.normalize()
  const days = 'select activity_date, sessions from {activity_days}'
  const changes = 'select old_value from {restatements}'
  expect(await lake.rows(days)).toEqual([{ activity_date: '2026-02-03', sessions: '2' }])
  expect(await lake.rows(changes)).toEqual([{ old_value: '1' }])

  const key = intervalKey('activity', parseDay('2026-02-03', 'the day'))
  const landed = (await LedgerFile.read(lake.data, ORG)).get(key)
  const nothing = { fetchedAt: null, rowCount: null, file: null, sha256: null, digest: null }
  if (landed !== undefined) await lake.record({ ...landed, ...nothing, status: 'failed' })
  await lake.normalize()
  expect(await lake.rows(days)).toEqual([])
  expect(await lake.rows(changes)).toEqual([])
  expect(await lake.normalize()).toBe(0)
})

it('law 6: base of organisations made together is that of each one alone', async () => {
  const data = await temporaryFolder()
  const lakes = await Promise.all(['org/1', 'org 2', 'org~3'].map((id) => Lake.open(data, id)))
  const at = '2026-02-04T03:00:00Z'
  for (const [index, lake] of lakes.entries()) {
    const users = [{ user_id: 'u1', seat: { x: 1 } }, { user_id: 'u1', sessions: index }, {}]
    await lake.land('users', '2026-02-03', at, users)
    await lake.land('users', `2026-02-0${index + 4}`, '2026-02-08T03:00:00Z', [{ user_id: 'u2' }])
    await lake.land('activity', '2026-02-03', at, [{ sessions: 1 }]) // files of one name
    await lake.land('tools', '2026-02-03', at, [])
    const tokens = { input_tokens: 9e18, user_id: 'u' }
    await lake.land('tokens', '2026-01-31', at, [{ by_user: index > 0 ? [tokens, tokens] : [] }])
  }
  const [, , restated] = lakes
  await restated?.land('activity', '2026-02-03', '2026-02-05T03:00:00Z', [{ sessions: 2 }])
  await using engine = new BaseEngine(data)
  const all = await Promise.all(lakes.map((lake) => lake.options()))
  await normalize(
    all.map((options) => ({ options })),
    engine,
  )
  await using database = await Database.open(':memory:')
  const rowsOf = (file: string) => database.rows(`from ${literal(file)}`)
  const months = ['2026-01', '2026-02']
  let compared = 0
  for (const lake of lakes) {
    const alone = await temporaryFolder()
    await lake.normalize(alone)
    for (const { name } of BASE_ENTITIES) {
      for (const month of months) {
        const own = baseFile(data, lake.orgId, name, month)
        const expected = baseFile(alone, lake.orgId, name, month)
        expect(existsSync(own), own).toBe(existsSync(expected))
        if (!existsSync(own)) continue
        expect(await rowsOf(own), own).toEqual(await rowsOf(expected))
        compared += 1
      }
    }
  }
  expect(compared).toBeGreaterThan(lakes.length * months.length)
})

it('base is of the organisation of the lake, whatever folder the lake is in', async () => {
  const folder = join(await temporaryFolder(), 'org=other', 'date=2026-01-01')
  const lake = await Lake.open(folder)
  await lake.land('users', '2026-01-23', '2026-01-24T03:00:00Z', [{ user_id: 'u1' }])
  await lake.normalize()
  const rows = await lake.rows(
    'select org_id, user_id from {users} where activity_date is not null',
  )
  expect(rows).toEqual([{ org_id: ORG, user_id: 'u1' }])
})

it('an entity without days has one file, of no organisation, with the columns of the others', async () => {
  const lake = await Lake.open()
  await lake.land('users', '2026-01-23', '2026-01-24T03:00:00Z', [{ user_id: 'u1' }])
  await lake.normalize()
  const database = await Database.open(':memory:')
  const made: string[] = []
  for (const { name } of BASE_ENTITIES) {
    const own = baseFile(lake.data, ORG, name, '2026-01')
    const empty = baseFile(lake.data, NO_ORGANISATION, name, '2026-01')
    expect((await database.table(`from '${empty}'`)).rows, name).toEqual([])
    if (!existsSync(own)) continue
    made.push(name)
    const columnsOf = (file: string) => database.rows(`describe from '${file}'`)
    expect(await columnsOf(empty), name).toEqual(await columnsOf(own))
  }
  database.close()
  expect(made).toEqual(['schema_drift', 'users', 'user_languages'])
})

it('the memory limit for huge rows ends with the work, also if it fails', async () => {
  const lake = await Lake.open()
  await using engine = new BaseEngine(lake.data)
  const limitOf = async ({ database }: Worker): Promise<unknown> =>
    (await database.table("select current_setting('memory_limit')")).rows[0]?.[0]
  const before = await engine.use(limitOf)
  const limits: unknown[] = []
  const failing = engine.useWithMoreMemory(async (worker) => {
    limits.push(await limitOf(worker))
    throw new Error('Out of Memory')
  })
  await expect(failing).rejects.toThrow('Out of Memory')
  expect(limits).toEqual([before, expect.not.stringMatching(String(before))])
  expect(await engine.use(limitOf)).toBe(before)
})

it('a changed comment in a statement does not make its base again, another statement does', () => {
  const digest = (sql: string): string => digestOfStatements(() => [sql])()
  expect(digest('-- One row.\nselect 1')).toBe(digest('select 1'))
  expect(digest('select 2')).not.toBe(digest('select 1'))
})
