import { appendFile, copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  forgetImpossible,
  openLedger,
  unrecordedDays,
  rebuildLedger,
} from '../../src/extract/open-ledger.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { rawDays } from '../../src/lake/raw-days.ts'
import { intervalKey, LedgerFile, readJournal, type Interval } from '../../src/lake/ledger.ts'
import type { Warn } from '../../src/lib/world.ts'
import { ledgerOf } from '../flows/platform.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, LOOK, newest, NOW, platform, unrecord, versions } from './three-days.ts'

const KEY = intervalKey('users', DAY)

/**
 * A day whose newer content has the earlier name, as it landed while a clock was set
 * back, before names were kept in order. Returns its file, which the ledger names.
 */
async function contradictory() {
  const [lake, back] = [await platform(), await platform()]
  await lake.sync()
  back.platform.value = 2
  await back.sync(NOW - 60_000)
  const said = (await ledgerOf(back.data, 'o')).get(KEY)
  const [file = ''] = await versions(back.data)
  const folderIn = (data: string): string => rawFolder(data, 'o', 'users', DAY)
  await copyFile(join(folderIn(back.data), file), join(folderIn(lake.data), file))
  const line = JSON.stringify({ ...said, versions: 2 })
  await appendFile(join(lake.data, 'state', 'ledger', 'o.ndjson'), `${line}\n`)
  expect((await versions(lake.data))[0]).toBe(file)
  return { ...lake, file }
}

const current = async (data: string): Promise<Interval | undefined> =>
  (await ledgerOf(data, 'o')).get(KEY)

it('law 8: opening the ledger keeps the newer content, though its file has the earlier name', async () => {
  const { data, sync, platform: there, file } = await contradictory()
  const messages: string[] = []
  const { missing } = await openLedger(data, 'o', (message) => messages.push(message))
  expect([missing, messages]).toEqual([[], []])
  expect((await current(data))?.file).toBe(file)
  expect(unrecordedDays(await rawDays(data, 'o'), await readJournal(data, 'o'))).toEqual([])
  there.value = 3
  await sync(LOOK)
  expect((await current(data))?.file).toBe((await versions(data)).at(-1))
})

it('law 8: rebuilding the ledger keeps the newer content, though its file has the earlier name', async () => {
  const { data, file } = await contradictory()
  await rebuildLedger(data, 'o', (message) => expect.fail(message))
  expect(await current(data)).toMatchObject({ file, versions: 2 })
})

it('law 3: a version that a killed run landed after two versions whose names are out of order is added to the ledger', async () => {
  const { data, sync, platform: there } = await contradictory()
  there.value = 3
  await sync(LOOK)
  await unrecord(data)
  const messages: string[] = []
  await openLedger(data, 'o', (message) => messages.push(message))
  expect(messages).toHaveLength(1)
  expect(await current(data)).toMatchObject({ file: (await versions(data)).at(-1), versions: 3 })
})

it('law 3: opening the ledger forgets a day whose file is gone', async () => {
  const { data, sync } = await platform()
  await sync()
  await rm(await newest(data))
  const messages: string[] = []
  const { missing } = await openLedger(data, 'o', (message) => messages.push(message))
  expect(missing).toMatchObject([{ resource: 'users', day: DAY }])
  expect(messages.join()).toContain('are in the ledger but not in the lake')
  expect(await current(data)).toBeUndefined()
})

/** A day that has landed twice, and whose first version was deleted. */
async function withoutFirstVersion() {
  const { data, sync, platform: there } = await platform()
  await sync()
  there.value = 2
  await sync(LOOK)
  const [first = ''] = await versions(data)
  await rm(join(rawFolder(data, 'o', 'users', DAY), first))
  return { data, sync }
}

it.each([
  ['opening', async (data: string, warn: Warn) => (await openLedger(data, 'o', warn)).lost],
  ['rebuilding', (data: string, warn: Warn) => rebuildLedger(data, 'o', warn)],
])('%s the ledger reports once that an earlier version is gone', async (_, work) => {
  const { data } = await withoutFirstVersion()
  const messages: string[] = []
  const warn = (message: string): number => messages.push(message)
  expect(await work(data, warn)).toBe(1)
  expect(messages).toEqual([
    `earlier versions of o are no longer in ${join('lake', 'raw')}: users ${DAY}; without a backup of them, build --as-of lacks these days at the time of those versions`,
  ])
  expect(await work(data, warn)).toBe(0)
  expect(messages).toHaveLength(1)
})

it('a sync is partial once if an earlier version is gone', async () => {
  const { sync } = await withoutFirstVersion()
  expect((await sync(LOOK + 60_000)).result.missing).toBe(1)
  expect((await sync(LOOK + 120_000)).result.missing).toBe(0)
})

it.each([
  ['is kept for an entity, which has items of today', 'sessions', true],
  ['is forgotten for analytics, whose day is not over', 'users', false],
])('the record of today as failed %s', async (_, resource, isKept) => {
  const messages: string[] = []
  const warn = (message: string): number => messages.push(message)
  const ledger = await LedgerFile.open(await temporaryFolder(), 'o', warn)
  await ledger.record([{ ...FAILED, resource, day: DAY }])
  await forgetImpossible(ledger, DAY)
  expect([...ledger.intervals.keys()]).toEqual(isKept ? [intervalKey(resource, DAY)] : [])
  const warning = expect.stringMatching(/^a run with a wrong clock recorded/) as string
  expect(messages).toEqual(isKept ? [] : [warning])
})

const FAILED = {
  status: 'failed',
  fetchedAt: null,
  rowCount: null,
  versions: 0,
  attempts: 1,
  requestId: null,
  file: null,
  sha256: null,
  digest: null,
  error: '500',
} as const
