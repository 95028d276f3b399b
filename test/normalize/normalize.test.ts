import { expect, it } from 'vitest'
import { intervalKey, LedgerFile } from '../../src/lake/ledger.ts'
import { parseDay } from '../../src/lib/days.ts'
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
