import { copyFile, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/lib/days.ts'
import { contentOf } from '../../src/extract/land/row-lines.ts'
import { landVersions, LandingDatabase } from '../../src/extract/land/raw-writer.ts'
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

/** Lands a row of any depth, as earlier versions did. */
async function landByHand(data: string, item: string): Promise<void> {
  const database = new LandingDatabase(data)
  const lake = {
    dataFolder: data,
    orgId: 'o',
    ledger: new Map(),
    database,
    warn: () => undefined,
  }
  const origin = { page: 1, fetchedAt: NOW, request: '/', requestId: null, runId: 'run' }
  const content = contentOf([{ item, ordinal: 0, origin }], origin)
  await landVersions(lake, 'users', [{ day: DAY, content }])
  await database[Symbol.asyncDispose]()
}

describe('a ledger rebuilt from the lake', () => {
  const rebuilt = async (data: string) => {
    const messages: string[] = []
    const damaged = await rebuildLedger(data, 'o', (message) => messages.push(message))
    return { damaged, messages, ledger: await ledgerOf(data, 'o') }
  }

  /** Without what the lake does not hold: how often a day was requested, and its totals. */
  const lakeKnows = (interval: Interval): object => ({
    ...interval,
    attempts: null,
    witness: null,
  })

  it('equals the ledger that was deleted', async () => {
    const { data, sync } = await platform()
    await sync()
    const before = [...(await ledgerOf(data, 'o')).values()].map(lakeKnows)
    await rm(join(data, 'state'), { recursive: true })
    const { ledger, damaged } = await rebuilt(data)
    expect(damaged).toBe(0)
    expect([...ledger.values()].map(lakeKnows)).toEqual(expect.arrayContaining(before))
    expect(ledger.size).toBe(before.length)
  })

  it('keeps from the existing ledger what the lake does not hold', async () => {
    const { data, sync } = await platform()
    await sync()
    await sync(LOOK)
    const before = await ledgerOf(data, 'o')
    const { ledger } = await rebuilt(data)
    expect([...ledger].sort()).toEqual([...before].sort())
  })

  it.each(DAMAGE)('leaves out a day whose raw file has %s', async (_, damage) => {
    const { data, sync } = await platform()
    await sync()
    await rm(join(data, 'state'), { recursive: true })
    await damage(await newest(data))
    const { ledger, damaged, messages } = await rebuilt(data)
    expect(damaged).toBe(1)
    expect(messages.join()).toContain('moved to quarantine')
    expect(ledger.has(intervalKey('users', DAY))).toBe(false)
    expect(ledger.size).toBe(3 * ASKED.length - 1)
    expect(await quarantined(data)).toHaveLength(1)
  })

  it.each([
    ['too deeply', '['.repeat(120_000) + ']'.repeat(120_000), 1],
    ['as deeply as allowed', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000), 0],
    ['not at all, with many brackets', JSON.stringify(Array(20_000).fill([])), 0],
  ])('leaves out a day only if a row is nested too deeply: %s', async (_, value, expected) => {
    const data = await temporaryFolder()
    await landByHand(data, `{"date":"${DAY}","user_id":"ada","n":${value}}`)
    const { damaged, ledger, messages } = await rebuilt(data)
    expect(damaged).toBe(expected)
    expect(ledger.has(intervalKey('users', DAY))).toBe(expected === 0)
    if (expected === 1) expect(messages.join()).toMatch(/nested deeper.*moved to quarantine/)
    expect(await quarantined(data)).toHaveLength(expected)
  })

  it('never falls back to an older version, however often it is rebuilt', async () => {
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

  it('names the newest version, even where the existing ledger names an older one', async () => {
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
      'repeats its rows without their origin',
      async (path: string) => {
        const [rows] = [`select item from '${path}'`]
        const stray = join(path, '..', '20260121T040506999Z-0123456789abcdef.parquet')
        await readLake('', `copy (${rows}) to '${stray}' (format parquet)`)
        return stray
      },
    ],
    [
      'is not a raw file',
      async (path: string) => {
        const stray = join(path, '..', '20260121T040506999Z-0123456789abcdef.parquet')
        await readLake('', `copy (select 1 as a) to '${stray}' (format parquet)`)
        return stray
      },
    ],
    [
      'belongs to another day',
      async (path: string) => {
        const other = rawFolder(join(path, '../../../../../..'), 'o', 'users', '2026-01-16' as Day)
        const [name = ''] = await readdir(other)
        const stray = join(path, '..', name)
        await copyFile(join(other, name), stray)
        return stray
      },
    ],
  ])('keeps a day and quarantines a stray file next to its version that %s', async (_, put) => {
    for (const isLedgerThere of [true, false]) {
      const { data, sync } = await platform()
      await sync()
      const [file = ''] = await versions(data)
      const stray = await put(await newest(data))
      if (!isLedgerThere) await rm(join(data, 'state'), { recursive: true })
      for (let time = 1; time <= 2; time += 1) {
        const { damaged, ledger, messages } = await rebuilt(data)
        expect([damaged, messages.length]).toEqual([0, time === 1 ? 1 : 0])
        expect(ledger.get(intervalKey('users', DAY))).toMatchObject({ file, versions: 1 })
      }
      expect(await versions(data)).toEqual([file])
      expect(await quarantined(data)).toEqual([`${basename(stray)}.stray`])
      const { world } = await sync(LOOK)
      expect(warnings(world)).toEqual([])
      expect(await versions(data)).toEqual([file])
    }
  })

  it('keeps the recorded version where a newer, unrecorded one is damaged', async () => {
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

  it('ignores files whose names are not those of versions', async () => {
    const { data, sync } = await platform()
    await sync()
    const folder = rawFolder(data, 'o', 'users', DAY)
    await writeFile(join(folder, 'notes.parquet'), 'not a raw file')
    const { damaged, ledger } = await rebuilt(data)
    expect([damaged, ledger.size]).toEqual([0, 3 * ASKED.length])
  })
})
