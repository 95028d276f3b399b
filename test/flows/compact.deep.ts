import { cp, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts'
import { damageOfVersion } from '../../src/extract/land/verify-versions.ts'
import { openLedger, rebuildLedger } from '../../src/extract/open-ledger.ts'
import { quarantine } from '../../src/lake/quarantine.ts'
import { rawDays } from '../../src/lake/raw-days.ts'
import { LedgerFile } from '../../src/lake/ledger.ts'
import { dataAsOf, ledgerAsOf } from '../../src/lake/point-in-time.ts'
import { ENTITY_RESOURCES } from '../../src/lake/resources.ts'
import { parseDay } from '../../src/lib/days.ts'
import type { Row } from '../../src/lib/duckdb.ts'
import { build, rebuild, normalizeAndRead } from '../../src/pipeline/build.ts'
import { compact, planOfMerges } from '../../src/pipeline/compact.ts'
import type { StageResult, RunContext } from '../../src/pipeline/run-context.ts'
import { sync } from '../../src/pipeline/sync.ts'
import { verify } from '../../src/pipeline/verify.ts'
import { folderOfFile } from '../support/folders.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { baseOf, martsOf } from './contents.ts'
import { rawFiles, rawRows, rowsOfVersions } from './raw-rows.ts'

const ORG = 'org_demo'
const NIGHTS = ['2026-02-10', '2026-03-02', '2026-03-03', '2026-03-04'].map((day) =>
  Date.parse(`${day}T05:00:00Z`),
)
const day = (text: string) => parseDay(text, 'a day')
const RESTATED = [day('2026-01-16'), day('2026-01-17')] as const
const FAILED = '2026-01-20'
const EMPTY = '2026-01-22'
/** All of January, which can be merged, and two days of February, which cannot. */
const WITHIN = { first: day('2026-01-14'), last: day('2026-02-02') }
const runs = () => Promise.resolve([])
const ignore = (): void => undefined

let night = 0
let emulator: Emulator

const now = (): number => NIGHTS[night] ?? 0

/**
 * A platform that restates two days each night, refuses one day of tools, and serves one day of
 * productivity without rows.
 */
async function startPlatform(): Promise<Emulator> {
  return startEmulator({
    users: 4,
    now,
    intercept: async ({ path, query, answer }) => {
      const resource = path.split('/').at(-1) ?? ''
      const [first, last] = [query.get('startDate') ?? '', query.get('endDate') ?? '']
      if (resource === 'tools' && first <= FAILED && FAILED <= last)
        return Response.json({ title: 'Bad Request' }, { status: 400 })
      if (!path.startsWith('/api/v1/analytics/')) return undefined
      const own = await answer()
      if (own.status !== 200) return undefined
      const body = (await own.json()) as { data: { date: string; sessions?: number }[] }
      const served = body.data.filter(
        ({ date }) => !(resource === 'productivity' && date === EMPTY),
      )
      const data = served.map((row) => {
        const isRestated = RESTATED.some((restated) => restated === row.date)
        const { sessions } = row
        return isRestated && sessions !== undefined ? { ...row, sessions: sessions + night } : row
      })
      return Response.json({ ...body, data })
    },
  })
}

function contextOf(data: string): RunContext {
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_RATE: '2000',
  }
  const config = loadConfig({ data }, environment, data)
  return { config, world: testWorld(now()), runId: `run-${night}`, deadline: now() + 3_600_000 }
}

async function land(data: string): Promise<void> {
  await sync(contextOf(data), { within: WITHIN, entities: { resources: ENTITY_RESOURCES } })
}

async function nextNight(data: string): Promise<void> {
  night += 1
  await sync(contextOf(data), { within: { first: RESTATED[0], last: RESTATED[1] }, refetch: true })
  await land(data)
}

beforeAll(async () => {
  emulator = await startPlatform()
})

afterAll(async () => {
  await emulator.close()
})

let landed: Promise<string> | undefined

/** A data folder after three nights, to be copied. */
function threeNights(): Promise<string> {
  landed ??= landThreeNights()
  return landed
}

async function landThreeNights(): Promise<string> {
  const folder = await folderOfFile()
  await land(folder)
  await nextNight(folder)
  await nextNight(folder)
  await complete(build(contextOf(folder), { runs }))
  return folder
}

let compacted: Promise<string> | undefined

/** The data folder of three nights with merged files, to be copied. */
async function compactOnce(): Promise<string> {
  const folder = await folderOfFile()
  await cp(await threeNights(), folder, { recursive: true })
  const outcome = await compact(contextOf(folder))
  expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
  return folder
}

/** Copies of the data folder of three nights: as it is, and with merged files. */
async function twoFolders(): Promise<{ readonly plain: string; readonly merged: string }> {
  compacted ??= compactOnce()
  const [plain, merged] = [await temporaryFolder(), await temporaryFolder()]
  await cp(await threeNights(), plain, { recursive: true })
  await cp(await compacted, merged, { recursive: true })
  return { plain, merged }
}

async function ledgerOf(data: string): Promise<unknown[]> {
  return [...(await LedgerFile.read(data, ORG))].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Every row of base that is only of what was served, not of requests. */
async function servedIn(data: string): Promise<[string, Row[]][]> {
  const base = Object.entries(await baseOf(data))
  return base.filter(([entity]) => !['intervals', 'schema_drift'].includes(entity))
}

async function complete(work: Promise<StageResult>): Promise<void> {
  const { exitCode, problems } = await work
  expect(problems.map(({ message }) => message)).toEqual([])
  expect(exitCode).toBe(0)
}

async function versionsOfUsers(data: string): Promise<readonly string[] | undefined> {
  const days = await rawDays(data, ORG)
  return days.find((each) => each.day === RESTATED[0] && each.resource === 'users')?.versions
}

it('the lake of three nights has several versions of a day, an empty day and a failed one', async () => {
  const original = await threeNights()
  expect(await versionsOfUsers(original)).toHaveLength(3)
  const ledger = await LedgerFile.read(original, ORG)
  expect(ledger.get(`productivity/${EMPTY}`)).toMatchObject({ status: 'empty' })
  expect(ledger.get(`tools/${FAILED}`)).toMatchObject({ status: 'failed' })
})

it('law 1: merged files have every version, row and fetch time', async () => {
  const plan = await planOfMerges(await threeNights(), now())
  expect(plan.map(({ month }) => month)).toEqual(plan.map(() => '2026-01'))
  const { plain, merged } = await twoFolders()
  const before = plan.reduce((sum, { sources }) => sum + sources.length, 0)
  expect(before).toBeGreaterThan(100)
  const files = await rawFiles(merged)
  expect(files).toHaveLength((await rawFiles(plain)).length - before + plan.length)
  expect(await rawRows(merged)).toEqual(await rawRows(plain))
  expect(await rowsOfVersions(merged, ORG)).toEqual(await rowsOfVersions(plain, ORG))
  expect(await rawDays(merged, ORG)).toEqual(await rawDays(plain, ORG))
  expect(await ledgerOf(merged)).toEqual(await ledgerOf(plain))

  expect(await planOfMerges(merged, now()), 'law 2').toEqual([])
  expect((await compact(contextOf(merged))).merged).toEqual([])
  expect(await rawFiles(merged)).toEqual(files)
})

it('law 3: rebuild and the recovery of the ledger give the same from merged files', async () => {
  const { plain, merged } = await twoFolders()
  await rm(join(merged, 'warehouse.duckdb'), { force: true })
  await complete(rebuild(contextOf(merged), { runs }))
  expect(await baseOf(merged)).toEqual(await baseOf(plain))
  expect(await martsOf(merged)).toEqual(await martsOf(plain))
  expect(await ledgerOf(merged)).toEqual(await ledgerOf(plain))

  for (const data of [plain, merged]) {
    await rm(join(data, 'state', 'ledger'), { recursive: true })
    await openLedger(data, ORG, ignore)
  }
  expect(await ledgerOf(merged)).toEqual(await ledgerOf(plain))
})

it('a build as of an earlier time reads the same from merged files', async () => {
  const { plain, merged } = await twoFolders()
  for (const at of NIGHTS.slice(0, 3).flatMap((each) => [each - 3_600_000, each + 3_600_000])) {
    const [a, b] = [await ledgerAsOf(plain, ORG, at), await ledgerAsOf(merged, ORG, at)]
    expect(b, new Date(at).toISOString()).toEqual(a)
  }
  const asOf = (NIGHTS[1] ?? 0) + 3_600_000
  const base = []
  for (const data of [plain, merged]) {
    const past = await dataAsOf(data, [ORG], asOf)
    await normalizeAndRead(contextOf(data), past)
    base.push(await baseOf(past.baseIn))
  }
  expect(base[1]).toEqual(base[0])
  expect(base[1]).not.toEqual(await baseOf(merged))
})

it('verify reports the same for a lake with merged files', async () => {
  const { plain, merged } = await twoFolders()
  const within = { first: day('2026-01-14'), last: day('2026-01-20') }
  const [a, b] = [
    await verify(contextOf(plain), { within }),
    await verify(contextOf(merged), { within }),
  ]
  expect(b).toEqual(a)
  expect(a.verification?.files).toMatchObject({ damaged: [] })
  expect(a.verification?.files.files).toBeGreaterThan(50)
})

it('a changed day of a merged month lands as a new version, and compact merges it next time', async () => {
  const { plain, merged } = await twoFolders()
  const before = night
  for (const data of [plain, merged]) {
    night = before
    await nextNight(data)
  }
  expect(await versionsOfUsers(merged)).toHaveLength(4)
  expect(await versionsOfUsers(merged)).toEqual(await versionsOfUsers(plain))
  const rows = await rawRows(merged)
  expect((await compact(contextOf(merged))).merged.length).toBeGreaterThan(0)
  night = before
  expect(await rawRows(merged)).toEqual(rows)
  const january = (await rawFiles(merged)).filter((name) => /^users.*date=2026-01/.test(name))
  expect(january).toHaveLength(1)
  await complete(build(contextOf(merged), { runs }))
  expect(await servedIn(merged)).toEqual(await servedIn(plain))
})

it('law 3: a day is merged although its folder was moved, with a link in its place', async () => {
  const { plain } = await twoFolders()
  const folder = join(plain, 'lake', 'raw', 'tokens', `org=${ORG}`, `date=${RESTATED[0]}`)
  const elsewhere = join(await temporaryFolder(), 'moved')
  await rename(folder, elsewhere)
  await symlink(elsewhere, folder)
  const rows = await rowsOfVersions(plain, ORG)
  await complete(compact(contextOf(plain)))
  expect(await readdir(elsewhere)).toEqual([])
  await openLedger(plain, ORG, ignore)
  expect(await rowsOfVersions(plain, ORG)).toEqual(rows)
})

it('a missing or broken manifest is written again', async () => {
  const { merged } = await twoFolders()
  const days = await rawDays(merged, ORG)
  const manifests = (await readdir(join(merged, 'lake', 'raw'), { recursive: true })).filter(
    (name) => name.endsWith('.json'),
  )
  expect(manifests).toHaveLength(8)
  const [first = '', ...others] = manifests.map((name) => join(merged, 'lake', 'raw', name))
  await writeFile(first, '{')
  for (const path of others) await rm(path)
  await openLedger(merged, ORG, ignore)
  expect(await rawDays(merged, ORG)).toEqual(days)
})

it('a manifest with other ranges of rows than were written is written again', async () => {
  const { merged } = await twoFolders()
  const rows = await rowsOfVersions(merged, ORG)
  const path = (await usersOfJanuary(merged)).replace('.parquet', '.json')
  const changed = (await readFile(path, 'utf8')).replace(/"first":[1-9]\d*/, '"first":0')
  await writeFile(path, changed)
  await openLedger(merged, ORG, ignore)
  expect(await readFile(path, 'utf8')).not.toBe(changed)
  expect(await rowsOfVersions(merged, ORG)).toEqual(rows)
})

it('a merged file without a manifest, whose metadata cannot be read, goes to quarantine', async () => {
  const { merged } = await twoFolders()
  const path = await usersOfJanuary(merged)
  const bytes = await readFile(path)
  bytes[bytes.lastIndexOf('"rows":')] = 0x5b // `[` instead of a quotation mark
  await writeFile(path, bytes)
  await rm(path.replace('.parquet', '.json'))
  const warnings: string[] = []
  const { missing } = await openLedger(merged, ORG, (message) => warnings.push(message))
  expect(warnings.join('\n')).toMatch(
    /does not list the versions in it; it was moved to quarantine/,
  )
  expect(new Set(missing.map(({ resource }) => resource))).toEqual(new Set(['users']))
})

it('a build as of an earlier time names a version of that time that cannot be read', async () => {
  const { plain } = await twoFolders()
  const [first = ''] = (await versionsOfUsers(plain)) ?? []
  const [path = ''] = (await rawFiles(plain)).filter((name) => name.endsWith(first))
  await truncate(join(plain, 'lake', 'raw', path), 400)
  const past = await dataAsOf(plain, [ORG], (NIGHTS[0] ?? 0) + 3_600_000)
  const building = normalizeAndRead(contextOf(plain), past)
  await expect(building).rejects.toThrow(`users ${RESTATED[0]} of ${ORG}: ${first}: it cannot be`)
})

/** The merged file with the days of users of January. */
async function usersOfJanuary(data: string): Promise<string> {
  const [name = ''] = (await rawFiles(data)).filter((each) => /^users.*date=2026-01\//.test(each))
  return join(data, 'lake', 'raw', name)
}

async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path)
  bytes[400] = (bytes[400] ?? 0) ^ 255
  await writeFile(path, bytes)
}

it('a damaged part of a merged file makes only the versions in it missing', async () => {
  const { merged } = await twoFolders()
  await flipByte(await usersOfJanuary(merged))
  expect(await rebuildLedger(merged, ORG, ignore)).toBeGreaterThan(0)
  const folder = join(merged, 'quarantine', 'users', `org=${ORG}`)
  expect(await readdir(folder)).toEqual(['date=2026-01'])
  const left = await LedgerFile.read(merged, ORG)
  expect([...left.keys()].filter((key) => key.startsWith('tokens/2026-01'))).not.toEqual([])
  night = 2
  await land(merged)
  const again = await LedgerFile.read(merged, ORG)
  expect(again.get(`users/${RESTATED[0]}`)).toMatchObject({ status: 'landed' })
})

it('verify reports only the damaged versions of a merged file, and none after the days were requested again', async () => {
  const { merged } = await twoFolders()
  const path = await usersOfJanuary(merged)
  await flipByte(path)
  night = 2
  const within = { first: day('2026-01-14'), last: day('2026-01-31') }
  const damaged = async () => {
    const { verification } = await verify(contextOf(merged), { within })
    return verification?.files.damaged ?? expect.fail('nothing was verified')
  }
  const found = await damaged()
  expect(new Set(found.map((each) => each.path))).toEqual(new Set([path]))
  expect(found.length).toBeLessThan(18)
  await sync(contextOf(merged), { within, refetch: true })
  expect(await damaged()).toEqual([])
})

it('after one damaged version of a merged file was found, the others are still verified', async () => {
  const { merged } = await twoFolders()
  await truncate(await usersOfJanuary(merged), 400)
  const ledger = await LedgerFile.read(merged, ORG)
  const damageOf = async (date: string) => {
    const { file = null, sha256 = null } = ledger.get(`users/${date}`) ?? {}
    const version = { resource: 'users', day: day(date), file: file ?? '' }
    return damageOfVersion(merged, ORG, version, sha256)
  }
  const found = await damageOf('2026-01-18')
  if (found !== undefined) await quarantine(merged, ORG, found)
  expect([found, await damageOf('2026-01-19')]).not.toContain(undefined)
})

it('the path of a damaged merged file is named once, not for each of its versions', async () => {
  const { merged } = await twoFolders()
  await truncate(await usersOfJanuary(merged), 400)
  const warnings: string[] = []
  await rebuildLedger(merged, ORG, (message) => warnings.push(message))
  const ofUsers = warnings.filter((message) => message.startsWith('users'))
  expect(ofUsers.length).toBeGreaterThan(2)
  expect(ofUsers.filter((message) => message.includes('date=2026-01'))).toHaveLength(1)
})
