import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/core/days.ts'
import { contentOf } from '../../src/extract/day-content.ts'
import { RawWriter } from '../../src/extract/land.ts'
import { takeOutDamaged } from '../../src/extract/lost.ts'
import { rebuildLedger } from '../../src/extract/rebuild.ts'
import { normalize } from '../../src/normalize/normalize.ts'
import { Database } from '../../src/store/duckdb.ts'
import { quarantineFolder, rawFolder } from '../../src/store/lake.ts'
import { intervalKey, type Interval } from '../../src/store/ledger.ts'
import { sendJson, temporaryFolder, testServer, testWorld } from '../helpers.ts'
import { ledgerOf, readLake, syncFrom } from '../flows/platform.ts'

const NOW = Date.parse('2026-01-17T06:00:00Z')
const DAY = '2026-01-15' as Day
const MS_PER_DAY = 86_400_000
const ASKED = ['users', 'activity', 'tokens_by_model', 'productivity']

/** A platform of three days whose every figure is `value`, and what it was asked. */
async function platform() {
  const platform = { value: 1, now: NOW }
  const { url, requests } = await testServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://platform').searchParams
    const [first, last] = [query.get('startDate') ?? '', query.get('endDate') ?? '']
    const rows = ['2026-01-14', '2026-01-15', '2026-01-16']
      .filter((date) => date >= first && date <= last)
      .flatMap((date) =>
        ['ada', 'bob'].map((user) => ({ date, user_id: user, sessions: platform.value })),
      )
    const headers = { date: new Date(platform.now).toUTCString() }
    sendJson(response, 200, { data: rows, meta: { org_id: 'o', has_more: false } }, headers)
  })
  const data = await temporaryFolder()
  const sync = async (now = NOW) => {
    platform.now = now
    return syncFrom(url, data, { only: ASKED, world: testWorld(now) })
  }
  return { platform, data, requests, sync }
}

async function versions(data: string, resource = 'users', day = DAY): Promise<string[]> {
  return (await readdir(rawFolder(data, 'o', resource, day))).sort()
}

async function quarantined(data: string, resource = 'users', day = DAY): Promise<string[]> {
  return readdir(quarantineFolder(data, 'o', resource, day)).catch(() => [])
}

async function newest(data: string): Promise<string> {
  const name = (await versions(data)).at(-1)
  if (name === undefined) throw new Error('no version')
  return join(rawFolder(data, 'o', 'users', DAY), name)
}

const flip = async (path: string): Promise<void> => {
  const bytes = await readFile(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

const DAMAGE: readonly [string, (path: string) => Promise<void>][] = [
  ['one bit flipped', flip],
  ['nothing in it', (path) => truncate(path, 0)],
  ['its end cut off', async (path) => truncate(path, (await readFile(path)).length - 9)],
  ['something else in it', (path) => writeFile(path, 'PAR1 and then a letter to the editor PAR1')],
  [
    'a folder in its place',
    async (path) => {
      await rm(path)
      await mkdir(path)
    },
  ],
]

const warnings = (world: { events: readonly { type: string; message?: string }[] }): string[] =>
  world.events.flatMap(({ type, message }) => (type === 'warning' ? [message ?? ''] : []))

const LOOK = NOW + MS_PER_DAY

describe('a look at a day whose rows are the same', () => {
  it.each(DAMAGE)('never blesses a file with %s: it is landed anew', async (_, damage) => {
    const { data, sync } = await platform()
    await sync()
    const before = (await ledgerOf(data, 'o')).get(intervalKey('users', DAY))
    const path = await newest(data)
    await damage(path)
    const { result, world } = await sync(LOOK)
    expect(result).toMatchObject({ failed: 0, lost: 0, stoppedBy: null })
    expect(warnings(world).join()).toMatch(
      /users 2026-01-15 of o: .*; moved to quarantine.*landed anew/,
    )
    expect(await quarantined(data)).toHaveLength(1)
    const after = (await ledgerOf(data, 'o')).get(intervalKey('users', DAY))
    expect(after).toMatchObject({ status: 'landed', rowCount: 2, digest: before?.digest })
    expect(await versions(data)).toEqual([after?.file])
  })

  it('takes the file that is whole as it is', async () => {
    const { data, sync } = await platform()
    await sync()
    const before = await versions(data)
    const { world } = await sync(LOOK)
    expect(await versions(data)).toEqual(before)
    expect(warnings(world)).toEqual([])
  })
})

/** Takes the last word on the day out of the journal, as a crash before it was written would. */
async function unrecord(data: string): Promise<void> {
  const path = join(data, 'state', 'ledger', 'o.ndjson')
  const lines = (await readFile(path, 'utf8')).split('\n')
  const isIt = (line: string): boolean => line.includes('"users"') && line.includes(DAY)
  const last = lines.findLastIndex(isIt)
  await writeFile(path, lines.filter((_, index) => index !== last).join('\n'))
}

describe('a file that a crash left between its rename and its record', () => {
  it('is taken in once its rows are proven to be the ones that are served', async () => {
    const { data, sync } = await platform()
    await sync()
    const before = await versions(data)
    await unrecord(data)
    const { world } = await sync()
    expect(await versions(data)).toEqual(before)
    expect(warnings(world)).toEqual([])
    expect((await ledgerOf(data, 'o')).get(intervalKey('users', DAY))).toMatchObject({
      file: before[0],
      rowCount: 2,
      versions: 1,
    })
  })

  it.each(DAMAGE)('and that has %s is not', async (_, damage) => {
    const { data, sync } = await platform()
    await sync()
    await unrecord(data)
    await damage(await newest(data))
    const { world } = await sync(NOW + 60_000)
    expect(warnings(world)).toHaveLength(1)
    expect(await quarantined(data)).toHaveLength(1)
    expect(await versions(data)).toHaveLength(1)
  })

  it('and that holds another day’s rows under this day’s name is not', async () => {
    const { data, sync } = await platform()
    await sync()
    const path = await newest(data)
    await unrecord(data)
    const other = rawFolder(data, 'o', 'users', '2026-01-14' as Day)
    const [name = ''] = await readdir(other)
    await writeFile(path, await readFile(join(other, name)))
    const { world } = await sync(NOW + 60_000)
    expect(warnings(world).join()).toContain('it is another file: users 2026-01-14 of o')
  })
})

describe('a file that the ledger names and the lake has not', () => {
  it('makes its day missing: it is asked for in the same run', async () => {
    const { data, sync, requests } = await platform()
    await sync()
    await rm(await newest(data))
    const before = requests.length
    const { result, world } = await sync()
    expect(result).toMatchObject({ landed: 1, lost: 0 })
    expect(requests.length - before).toBe(2)
    expect(warnings(world).join()).toContain('not in the lake: users 2026-01-15;')
    expect(await versions(data)).toHaveLength(1)
  })

  it('is told of where its day is not asked for', async () => {
    const { data, sync, platform: there } = await platform()
    await sync()
    await rm(await newest(data))
    there.now = NOW
    const { url } = await testServer((_, response) => {
      const headers = { date: new Date(NOW).toUTCString() }
      sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const only = { only: ['activity'], world: testWorld(NOW) }
    expect((await syncFrom(url, data, only)).result).toMatchObject({ landed: 0, lost: 1 })
    expect((await ledgerOf(data, 'o')).has(intervalKey('users', DAY))).toBe(false)
  })
})

const toBase = async (data: string) => {
  const ledger = await ledgerOf(data, 'o')
  return normalize({
    dataFolder: data,
    baseIn: data,
    orgId: 'o',
    ledger,
    isFrugal: true,
    firstMonth: '2026-01',
    emit: () => undefined,
    takeOutDamaged: (files) => takeOutDamaged(data, 'o', files, ledger, () => undefined),
  })
}

describe('the base', () => {
  it.each(DAMAGE)('is not made from a raw file with %s', async (_, damage) => {
    const { data, sync } = await platform()
    await sync()
    await damage(await newest(data))
    expect(await toBase(data)).toBeGreaterThan(0)
    expect(await quarantined(data)).toHaveLength(1)
    expect((await ledgerOf(data, 'o')).has(intervalKey('users', DAY))).toBe(false)
    const users = join(data, 'lake/base/users/org=o/month=2026-01/data.parquet')
    const days = await readLake(
      data,
      `select distinct cast(activity_date as varchar) as day from '${users}' order by 1`,
    )
    expect(days).toEqual([{ day: '2026-01-14' }, { day: '2026-01-16' }])
  })

  it('is made again where a file of it is damaged, and only there', async () => {
    const { data, sync } = await platform()
    await sync()
    await toBase(data)
    expect(await toBase(data)).toBe(0)
    const path = join(data, 'lake/base/users/org=o/month=2026-01/data.parquet')
    const rows = () => readLake(data, `from '${path}' order by all`)
    const before = await rows()
    await flip(path)
    expect(await toBase(data)).toBe(1)
    expect(await rows()).toEqual(before)
  })

  it('is made again whole where the record of it cannot be read', async () => {
    const { data, sync } = await platform()
    await sync()
    const first = await toBase(data)
    await writeFile(join(data, 'state/base/o.json'), '{"users/2026-01":')
    expect(await toBase(data)).toBe(first)
  })
})

/** Lands a row as versions did that landed any. */
async function landByHand(data: string, item: string): Promise<void> {
  const database = await Database.open(':memory:')
  const writer = new RawWriter({
    dataFolder: data,
    orgId: 'o',
    ledger: new Map(),
    database,
    warn: () => undefined,
  })
  const origin = { page: 1, fetchedAt: NOW, request: '/', requestId: null, runId: 'run' }
  await writer.land('users', DAY, contentOf([{ item, ordinal: 0, origin }], origin))
  database.close()
}

describe('a ledger made anew from the lake', () => {
  const rebuilt = async (data: string) => {
    const told: string[] = []
    const damaged = await rebuildLedger(data, 'o', (message) => told.push(message))
    return { damaged, told, ledger: await ledgerOf(data, 'o') }
  }

  /** What no lake can tell: how often a day was asked for, and when it was last looked at. */
  const lakeKnows = (interval: Interval): object => ({
    ...interval,
    attempts: null,
    witness: null,
  })

  it('says what the one before said', async () => {
    const { data, sync } = await platform()
    await sync()
    const before = [...(await ledgerOf(data, 'o')).values()].map(lakeKnows)
    await rm(join(data, 'state'), { recursive: true })
    const { ledger, damaged } = await rebuilt(data)
    expect(damaged).toBe(0)
    expect([...ledger.values()].map(lakeKnows)).toEqual(expect.arrayContaining(before))
    expect(ledger.size).toBe(before.length)
  })

  it('keeps of the one before what the lake cannot tell', async () => {
    const { data, sync } = await platform()
    await sync()
    await sync(LOOK)
    const before = await ledgerOf(data, 'o')
    const { ledger } = await rebuilt(data)
    expect([...ledger].sort()).toEqual([...before].sort())
  })

  it.each(DAMAGE)('leaves out a day whose file has %s', async (_, damage) => {
    const { data, sync } = await platform()
    await sync()
    await rm(join(data, 'state'), { recursive: true })
    await damage(await newest(data))
    const { ledger, damaged, told } = await rebuilt(data)
    expect(damaged).toBe(1)
    expect(told.join()).toContain('moved to quarantine')
    expect(ledger.has(intervalKey('users', DAY))).toBe(false)
    expect(ledger.size).toBe(3 * ASKED.length - 1)
    expect(await quarantined(data)).toHaveLength(1)
  })

  it.each([
    ['too deep', '['.repeat(120_000) + ']'.repeat(120_000), 1],
    ['as deep as may be', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000), 0],
    ['at all, with many brackets', JSON.stringify(Array(20_000).fill([])), 0],
  ])('leaves out a day whose row is nested %s, if too deep', async (_, value, expected) => {
    const data = await temporaryFolder()
    await landByHand(data, `{"date":"${DAY}","user_id":"ada","n":${value}}`)
    const { damaged, ledger, told } = await rebuilt(data)
    expect(damaged).toBe(expected)
    expect(ledger.has(intervalKey('users', DAY))).toBe(expected === 0)
    if (expected === 1) expect(told.join()).toMatch(/nested deeper.*moved to quarantine/)
    expect(await quarantined(data)).toHaveLength(expected)
  })

  it('never falls back to an older version, however often it is made', async () => {
    const { data, sync, platform: there } = await platform()
    await sync()
    there.value = 2
    await sync(LOOK)
    expect(await versions(data)).toHaveLength(2)
    await rm(join(data, 'state'), { recursive: true })
    await flip(await newest(data))
    for (const expected of [1, 0]) {
      const { ledger, damaged } = await rebuilt(data)
      expect(damaged).toBe(expected)
      expect(ledger.has(intervalKey('users', DAY))).toBe(false)
    }
    there.value = 1 // what the platform serves now is the older version once more
    const { result } = await sync(LOOK + 60_000)
    expect(result.failed).toBe(0)
    expect(await versions(data)).toHaveLength(2)
    const { ledger } = await rebuilt(data)
    expect(ledger.get(intervalKey('users', DAY))?.file).toBe((await versions(data)).at(-1))
  })

  it('names the newest version, also where the one before knew an older one', async () => {
    const { data, sync, platform: there } = await platform()
    await sync()
    there.value = 2
    await sync(LOOK)
    await unrecord(data)
    const { ledger } = await rebuilt(data)
    expect(ledger.get(intervalKey('users', DAY))).toMatchObject({
      file: (await versions(data)).at(-1),
      versions: 2,
      fetchedAt: LOOK,
    })
  })

  it('passes over files that are not ours', async () => {
    const { data, sync } = await platform()
    await sync()
    const folder = rawFolder(data, 'o', 'users', DAY)
    await writeFile(join(folder, 'notes.parquet'), 'of somebody else')
    const { damaged, ledger } = await rebuilt(data)
    expect([damaged, ledger.size]).toEqual([0, 3 * ASKED.length])
  })
})
