import { expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { Lake } from '../support/lake.ts'
import { buildLake } from './lake-build.ts'

it.each([
  ['2026-02-09T03:30:00Z', 'pass'],
  ['2026-02-10T16:00:00Z', 'warn'],
])('law 5: at %s, after two responses without rows, the freshness is: %s', async (now, status) => {
  const lake = await Lake.open()
  await lake.land('users', '2026-02-06', '2026-02-07T03:30:00Z', [
    { user_id: 'u', date: '2026-02-06', sessions: 1 },
  ])
  await lake.land('users', '2026-02-07', '2026-02-08T03:30:00Z', [])
  await lake.land('users', '2026-02-08', '2026-02-09T03:30:00Z', [])
  const result = await buildLake(lake, parseDay('2026-02-08', 'the day'), {
    now: () => Date.parse(now),
  })
  expect(result.freshness.map((each) => each.status)).toEqual([status])
})
