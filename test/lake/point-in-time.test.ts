import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quarantineDamaged } from '../../src/extract/land/verify-versions.ts'
import { parseDay } from '../../src/lib/days.ts'
import { pathSegment } from '../../src/lib/files.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { versionsIn } from '../../src/lake/raw-days.ts'
import { firstLanding, ledgerAsOf } from '../../src/lake/point-in-time.ts'
import { intervalKey, LedgerFile } from '../../src/lake/ledger.ts'
import { Lake, ORG } from '../support/lake.ts'

const DAY = parseDay('2026-01-14', 'the day')
const USERS = intervalKey('users', DAY)

/** Three versions of a day of users, and a day of activity that landed with the second. */
async function threeNights(): Promise<Lake> {
  const lake = await Lake.open()
  const user = (id: string) => ({ user_id: id })
  await lake.land('users', '2026-01-14', '2026-01-15T03:00:00Z', ['a', 'b', 'a'].map(user))
  await lake.land('users', '2026-01-14', '2026-01-16T03:00:00Z', [])
  await lake.land('activity', '2026-01-14', '2026-01-16T04:00:00Z', [{ sessions: 1 }])
  await lake.land('users', '2026-01-14', '2026-01-17T03:00:00Z', [user('a')])
  return lake
}

/** Moves the current version of the day of users to quarantine, as a build does with a damaged one. */
async function quarantineNewest({ data }: Lake): Promise<void> {
  const ledger = await LedgerFile.read(data, ORG)
  const { resource = '', day = DAY, file = '' } = ledger.get(USERS) ?? {}
  const files = [{ resource, day, file: file ?? '' }]
  expect(await quarantineDamaged(data, ORG, files, ledger, () => undefined)).toHaveLength(1)
}

const usersAsOf = async ({ data }: Lake, at: string) =>
  (await ledgerAsOf(data, ORG, Date.parse(at))).get(USERS)

describe('the ledger at a point in time', () => {
  it('has the version of that time with its users and its request, and no later day', async () => {
    const lake = await threeNights()
    const at = Date.parse('2026-01-16T02:00:00Z')
    const ledger = await ledgerAsOf(lake.data, ORG, at)
    expect([...ledger.keys()]).toEqual([USERS])
    expect(ledger.get(USERS)).toMatchObject({
      status: 'landed',
      rowCount: 2,
      versions: 1,
      fetchedAt: Date.parse('2026-01-15T03:00:00Z'),
      requestId: 'req 2026-01-15T03:00:00Z',
    })
  })

  it('has a day that was empty then as empty', async () => {
    const lake = await threeNights()
    const ledger = await ledgerAsOf(lake.data, ORG, Date.parse('2026-01-16T03:00:00Z'))
    expect(ledger.get(USERS)).toMatchObject({ status: 'empty', rowCount: 0, versions: 2 })
  })

  it('equals the present ledger after everything has landed', async () => {
    const lake = await threeNights()
    const ledger = await ledgerAsOf(lake.data, ORG, Date.parse('2026-01-17T03:00:00Z'))
    expect([...ledger]).toEqual([...(await LedgerFile.read(lake.data, ORG))])
  })

  it('ignores a later recheck that found no change', async () => {
    const lake = await threeNights()
    const landed = (await LedgerFile.read(lake.data, ORG)).get(USERS)
    if (landed !== undefined)
      await lake.record({ ...landed, fetchedAt: (landed.fetchedAt ?? 0) + 1e9 })
    const ledger = await ledgerAsOf(lake.data, ORG, Date.parse('2026-01-17T04:00:00Z'))
    expect(ledger.get(USERS)?.fetchedAt).toBe(Date.parse('2026-01-17T03:00:00Z'))
  })

  it.each([
    ['and the day is missing', async () => Promise.resolve()],
    [
      'and the ledger is lost',
      ({ data }: Lake) => rm(join(data, 'state', 'ledger'), { recursive: true }),
    ],
    [
      'and the day has landed again',
      (lake: Lake) => lake.land('users', '2026-01-14', '2026-01-18T03:00:00Z', [{ user_id: 'c' }]),
    ],
  ])('has the version of that time if the newest is in quarantine %s', async (_, then) => {
    const lake = await threeNights()
    const [first, second] = ['2026-01-16T02:00:00Z', '2026-01-16T03:00:00Z']
    const before = [await usersAsOf(lake, first), await usersAsOf(lake, second)]
    await quarantineNewest(lake)
    await then(lake)
    expect([await usersAsOf(lake, first), await usersAsOf(lake, second)]).toEqual(before)
  })

  it('lacks a day whose version of that time is in quarantine, also after it has landed again', async () => {
    const lake = await threeNights()
    const at = '2026-01-17T03:00:00Z'
    await quarantineNewest(lake)
    expect(await usersAsOf(lake, at)).toBeUndefined()
    await lake.land('users', '2026-01-14', '2026-01-18T03:00:00Z', [{ user_id: 'c' }])
    expect(await usersAsOf(lake, at)).toBeUndefined()
    const again = { rowCount: 1, versions: 3 } // two before, and this one
    expect(await usersAsOf(lake, '2026-01-18T03:00:00Z')).toMatchObject(again)
  })
})

it.each([
  ['', () => Promise.resolve()],
  [
    ', also after its journal was written again',
    ({ data }: Lake) =>
      appendFile(join(data, 'state', 'ledger', `${pathSegment(ORG)}.ndjson`), '{'),
  ],
])('a day whose version of that time is gone has no earlier one%s', async (_, then) => {
  const lake = await threeNights()
  const [first, gone, now] = [
    '2026-01-16T02:00:00Z',
    '2026-01-16T03:00:00Z',
    '2026-01-17T03:00:00Z',
  ]
  const before = [await usersAsOf(lake, first), await usersAsOf(lake, now)]
  const folder = rawFolder(lake.data, ORG, 'users', DAY)
  await rm(join(folder, versionsIn(folder)[1] ?? ''))
  await then(lake)
  await LedgerFile.open(lake.data, ORG, () => undefined)
  expect(await usersAsOf(lake, gone)).toBeUndefined()
  const { versions = 0 } = before[1] ?? {}
  const left = [before[0], { ...before[1], versions: versions - 1 }]
  expect([await usersAsOf(lake, first), await usersAsOf(lake, now)]).toEqual(left)
})

it('a day whose current version was gone when the rows before it were served again is missing in between', async () => {
  const [earlier, gone, now] = [
    '2026-01-15T03:00:00Z',
    '2026-01-16T03:00:00Z',
    '2026-01-17T03:00:00Z',
  ]
  const lake = await Lake.open()
  await lake.land('users', DAY, earlier, [{ user_id: 'a' }])
  const before = (await LedgerFile.read(lake.data, ORG)).get(USERS)
  await lake.land('users', DAY, gone, [{ user_id: 'b' }])
  const folder = rawFolder(lake.data, ORG, 'users', DAY)
  await rm(join(folder, versionsIn(folder)[1] ?? ''))
  if (before !== undefined) await lake.record({ ...before, fetchedAt: Date.parse(now) })
  const { file } = before ?? {}
  expect(await usersAsOf(lake, earlier)).toMatchObject({ file, fetchedAt: Date.parse(earlier) })
  expect(await usersAsOf(lake, gone)).toBeUndefined()
  expect(await usersAsOf(lake, now)).toMatchObject({ file, fetchedAt: Date.parse(now) })
})

it('the first landing is the time of the oldest version', async () => {
  const lake = await threeNights()
  expect(await firstLanding(lake.data, [ORG])).toBe(Date.parse('2026-01-15T03:00:00Z'))
  expect(await firstLanding(lake.data, ['another'])).toBeUndefined()
})

it('the first landing may be that of a day whose newest version is in quarantine', async () => {
  const lake = await threeNights()
  await quarantineNewest(lake)
  expect(await firstLanding(lake.data, [ORG])).toBe(Date.parse('2026-01-15T03:00:00Z'))
})
