import { copyFile, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/lib/days.ts'
import { contentOf } from '../../src/extract/land/row-lines.ts'
import { RawWriter } from '../../src/extract/land/raw-writer.ts'
import { LandingDatabase } from '../../src/extract/land/landing-database.ts'
import { rebuildLedger } from '../../src/extract/open-ledger.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { intervalKey, type Interval } from '../../src/lake/ledger.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { ledgerOf, readLake } from '../flows/platform.ts'
import {
  ASKED,
  DAMAGE,
  DAY,
  flip,
  LOOK,
  newest,
  NOW,
  platform,
  quarantined,
  unrecord,
  versions,
  warnings,
} from './three-days.ts'

/** Lands a row as versions did that landed any. */
async function landByHand(data: string, item: string): Promise<void> {
  const database = new LandingDatabase(data)
  const writer = new RawWriter({
    dataFolder: data,
    orgId: 'o',
    ledger: new Map(),
    database,
    warn: () => undefined,
  })
  const origin = { page: 1, fetchedAt: NOW, request: '/', requestId: null, runId: 'run' }
  const content = contentOf([{ item, ordinal: 0, origin }], origin)
  await writer.land('users', [{ day: DAY, content }])
  await database.close()
}

describe('a ledger rebuilt from the lake', () => {
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

  it.each([
    [
      'says nothing',
      async (path: string) => {
        const [rows] = [`select item from '${path}'`]
        const stray = join(path, '..', '20260121T040506999Z-0123456789abcdef.parquet')
        await readLake('', `copy (${rows}) to '${stray}' (format parquet)`)
        return stray
      },
    ],
    [
      'has no rows as served',
      async (path: string) => {
        const stray = join(path, '..', '20260121T040506999Z-0123456789abcdef.parquet')
        await readLake('', `copy (select 1 as a) to '${stray}' (format parquet)`)
        return stray
      },
    ],
    [
      'is another day’s',
      async (path: string) => {
        const other = rawFolder(join(path, '../../../../../..'), 'o', 'users', '2026-01-16' as Day)
        const [name = ''] = await readdir(other)
        const stray = join(path, '..', name)
        await copyFile(join(other, name), stray)
        return stray
      },
    ],
  ])('keeps a day beside whose version there is a file that %s', async (_, put) => {
    for (const isLedgerThere of [true, false]) {
      const { data, sync } = await platform()
      await sync()
      const [file = ''] = await versions(data)
      const stray = await put(await newest(data))
      if (!isLedgerThere) await rm(join(data, 'state'), { recursive: true })
      for (let time = 1; time <= 2; time += 1) {
        const { damaged, ledger, told } = await rebuilt(data)
        expect([damaged, told.length]).toEqual([0, time === 1 ? 1 : 0])
        expect(ledger.get(intervalKey('users', DAY))).toMatchObject({ file, versions: 1 })
      }
      expect(await versions(data)).toEqual([file])
      expect(await quarantined(data)).toEqual([`${basename(stray)}.stray`])
      const { world } = await sync(LOOK)
      expect(warnings(world)).toEqual([])
      expect(await versions(data)).toEqual([file])
    }
  })

  it('keeps the version that the ledger knows where a newer one, which it does not, is damaged', async () => {
    const { data, sync } = await platform()
    await sync()
    const [file = ''] = await versions(data)
    await writeFile(
      join(rawFolder(data, 'o', 'users', DAY), '20260121T040506999Z-0123456789abcdef.parquet'),
      'PAR1 and then a letter to the editor PAR1',
    )
    for (const expected of [1, 0]) {
      const { damaged, ledger } = await rebuilt(data)
      expect(damaged).toBe(expected)
      expect(ledger.get(intervalKey('users', DAY))).toMatchObject({ file })
    }
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
