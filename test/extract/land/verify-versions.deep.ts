import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/lib/days.ts'
import { Database, literal } from '../../../src/lib/duckdb.ts'
import { quarantineDamaged } from '../../../src/extract/land/verify-versions.ts'
import { openLedger, rebuildLedger } from '../../../src/extract/open-ledger.ts'
import { BaseEngine } from '../../../src/normalize/batch.ts'
import { normalize } from '../../../src/normalize/normalize.ts'
import { rawFolder, type RawFile } from '../../../src/lake/layout.ts'
import { intervalKey } from '../../../src/lake/ledger.ts'
import { sendJson, testServer, testWorld } from '../../support/helpers.ts'
import { ledgerOf, readLake, syncFrom } from '../../flows/platform.ts'
import {
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
} from '../three-days.ts'

describe('a recheck that fetches the same rows', () => {
  it.each(DAMAGE)('lands the day again when its raw file has %s', async (_, damage) => {
    const { data, sync } = await platform()
    await sync()
    const before = (await ledgerOf(data, 'o')).get(intervalKey('users', DAY))
    const path = await newest(data)
    await damage(path)
    const { result, world } = await sync(LOOK)
    expect(result).toMatchObject({ failed: 0, missing: 0, stoppedBy: null })
    expect(warnings(world).join()).toMatch(
      /users 2026-01-15 of o: .*; moved to quarantine.*written again/,
    )
    expect(await quarantined(data)).toHaveLength(1)
    const after = (await ledgerOf(data, 'o')).get(intervalKey('users', DAY))
    expect(after).toMatchObject({ status: 'landed', rowCount: 2, digest: before?.digest })
    expect(await versions(data)).toEqual([after?.file])
  })

  it('leaves an intact raw file as it is', async () => {
    const { data, sync } = await platform()
    await sync()
    const before = await versions(data)
    const { world } = await sync(LOOK)
    expect(await versions(data)).toEqual(before)
    expect(warnings(world)).toEqual([])
  })
})

describe('a raw file that a crash left out of the ledger', () => {
  it('is added to the ledger once it is verified', async () => {
    const { data, sync } = await platform()
    await sync()
    const before = await versions(data)
    await unrecord(data)
    const { world } = await sync()
    expect(await versions(data)).toEqual(before)
    expect(warnings(world)).toEqual([
      'the ledger of o lacked versions that are in the lake (users 2026-01-15); they were added',
    ])
    expect((await ledgerOf(data, 'o')).get(intervalKey('users', DAY))).toMatchObject({
      file: before[0],
      rowCount: 2,
      versions: 1,
    })
  })

  it.each(DAMAGE)(
    'goes to quarantine when it has %s, and the day lands again',
    async (_, damage) => {
      const { data, sync } = await platform()
      await sync()
      await unrecord(data)
      await damage(await newest(data))
      const { world } = await sync(NOW + 60_000)
      expect(warnings(world)).toHaveLength(1)
      expect(await quarantined(data)).toHaveLength(1)
      expect(await versions(data)).toHaveLength(1)
    },
  )

  it('is not added when it holds the rows of another day', async () => {
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

describe('a raw file that is in the ledger but not in the lake', () => {
  it('law 11: a damaged row is not quoted', async () => {
    const { data, sync } = await platform()
    await sync()
    await unrecord(data)
    const path = await newest(data)
    await using db = await Database.open(':memory:')
    await db.run(`create table rows as from ${literal(path)}`)
    await rm(path)
    await db.run(`copy rows to ${literal(path)} (format parquet, compression uncompressed)`)
    const bytes = await readFile(path)
    bytes[bytes.indexOf('user_id') + 1] = 0xa8
    await writeFile(path, bytes)
    const said: string[] = []
    await rebuildLedger(data, 'o', (message) => said.push(message))
    expect(said.join()).toMatch(/cannot be opened: .*Invalid string encoding/)
    expect(said.join()).not.toContain('er_id')
  }, 60_000)

  it('makes its day missing, and the same run fetches it', async () => {
    const { data, sync, requests } = await platform()
    await sync()
    await rm(await newest(data))
    const before = requests.length
    const { result, world } = await sync()
    expect(result).toMatchObject({ landed: 1, missing: 0 })
    expect(requests.length - before).toBe(2)
    expect(warnings(world).join()).toContain('not in the lake: users 2026-01-15;')
    expect(await versions(data)).toHaveLength(1)
  })

  it('is reported as missing by a run that does not request its day', async () => {
    const { data, sync, platform: there } = await platform()
    await sync()
    await rm(await newest(data))
    there.now = NOW
    const { url } = await testServer((_, response) => {
      const headers = { date: new Date(NOW).toUTCString() }
      sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    })
    const only = { only: ['activity'], world: testWorld(NOW) }
    expect((await syncFrom(url, data, only)).result).toMatchObject({ landed: 0, missing: 1 })
    expect((await ledgerOf(data, 'o')).has(intervalKey('users', DAY))).toBe(false)
  })
})

describe('a day whose newest version is gone', () => {
  it.each([
    ['was deleted', (path: string) => rm(path)],
    ['was damaged', flip],
  ])('is missing after that version %s, though an older one is in the lake', async (_, remove) => {
    const { data, sync, platform: there } = await platform()
    await sync()
    there.value = 2
    await sync(LOOK)
    await remove(await newest(data))
    const ledger = await ledgerOf(data, 'o')
    const { file } = ledger.get(intervalKey('users', DAY)) ?? {}
    const missing = [{ resource: 'users', day: DAY, file: file ?? '' }]
    await quarantineDamaged(data, 'o', missing, ledger, () => undefined)
    await rm(join(data, 'quarantine'), { recursive: true, force: true })
    for (let night = 1; night <= 2; night += 1) {
      await openLedger(data, 'o', () => undefined)
      expect((await ledgerOf(data, 'o')).has(intervalKey('users', DAY))).toBe(false)
      await rebuildLedger(data, 'o', () => undefined)
      expect((await ledgerOf(data, 'o')).has(intervalKey('users', DAY))).toBe(false)
    }
    expect(await versions(data)).toHaveLength(1)
    const { world } = await sync(LOOK + 60_000)
    expect(warnings(world)).toEqual([])
    expect(await versions(data)).toHaveLength(2)
  })
})

const toBase = async (data: string) => {
  const ledger = await ledgerOf(data, 'o')
  await using engine = new BaseEngine(data)
  const options = {
    dataFolder: data,
    baseIn: data,
    orgId: 'o',
    ledger,
    firstMonth: '2026-01',
    emit: () => undefined,
    findDamaged: (files: readonly RawFile[]) =>
      quarantineDamaged(data, 'o', files, ledger, () => undefined),
  }
  return await normalize([{ options }], engine)
}

describe('base', () => {
  it.each(DAMAGE)('leaves out a day whose raw file has %s', async (_, damage) => {
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

  it('is written again for a damaged base file alone', async () => {
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

  it('is written again in full when its record cannot be read', async () => {
    const { data, sync } = await platform()
    await sync()
    const first = await toBase(data)
    await writeFile(join(data, 'state/base/o.json'), '{"users/2026-01":')
    expect(await toBase(data)).toBe(first)
  })
})
