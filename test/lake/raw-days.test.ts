import fs from 'node:fs'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { HISTORY_START } from '../../src/lib/days.ts'
import { organisationsInLake, rawFolder } from '../../src/lake/layout.ts'
import { manifestOf, monthFolder } from '../../src/lake/merged.ts'
import { rawDays, versionsIn } from '../../src/lake/raw-days.ts'
import { temporaryFolder } from '../support/helpers.ts'

const DAY = HISTORY_START
const FILE = '20260115T020000000Z-0123456789abcdef.parquet'
const LANDED = [{ resource: 'tokens', day: DAY, versions: [FILE] }]

/** Calls `work` as soon as one of the folders has been listed. */
function onceListed(folders: readonly string[], work: () => void): void {
  const { readdirSync } = fs
  const restore = (): void => {
    fs.readdirSync = readdirSync
    syncBuiltinESMExports()
  }
  const listed = (...given: Parameters<typeof readdirSync>) => {
    const names = readdirSync(...given)
    if (!folders.some((folder) => folder === given[0])) return names
    restore()
    work()
    return names
  }
  Object.assign(fs, { readdirSync: listed })
  syncBuiltinESMExports()
  onTestFinished(restore)
}

/** Merges the version into a file, as `compact` does, and removes the file that it replaces. */
function merge(path: string, replaced: string): void {
  const version = { day: DAY, file: FILE, first: 0, rows: 1, bytes: 1, sha256: 'a', said: {} }
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(
    manifestOf(path),
    JSON.stringify({ sha256: 'a', versions: [version], replaces: [] }),
  )
  fs.writeFileSync(path, '')
  fs.rmSync(replaced, { force: true })
  fs.rmSync(manifestOf(replaced), { force: true })
}

async function landed() {
  const data = await temporaryFolder()
  const folder = rawFolder(data, 'o', 'tokens', DAY)
  const months = monthFolder(folder)
  await mkdir(folder, { recursive: true })
  await mkdir(months)
  await writeFile(join(folder, FILE), '')
  const mergedAs = (digit: string): string => join(months, `merged-${digit.repeat(16)}.parquet`)
  return { data, folder, own: join(folder, FILE), first: mergedAs('1'), second: mergedAs('2') }
}

it.each(['tokens', 'tokens/org=o', `tokens/org=o/date=${DAY}`])(
  'a folder that was moved to another disk, with a link in its place, is still in the lake: %s',
  async (name) => {
    const { data } = await landed()
    const [path, elsewhere] = [join(data, 'lake', 'raw', name), join(data, 'elsewhere')]
    await rename(path, elsewhere)
    await symlink(elsewhere, path)
    expect(await rawDays(data, 'o')).toEqual(LANDED)
    expect(await organisationsInLake(data)).toEqual(['o'])
  },
)

it('a reader misses no version that is merged meanwhile', async () => {
  const { data, folder, own, first, second } = await landed()
  const months = dirname(first)
  onceListed([folder, months], () => {
    merge(first, own)
  })
  expect(await rawDays(data, 'o')).toEqual(LANDED)
  onceListed([months], () => {
    merge(second, first)
  })
  expect(versionsIn(folder)).toEqual([FILE])
  onceListed([months], () => {
    merge(first, second)
  })
  expect(await rawDays(data, 'o')).toEqual(LANDED)
})
