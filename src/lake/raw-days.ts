import { basename, join } from 'node:path'
import { isDay, type Day } from '../lib/day.ts'
import { foldersIn, rawOf, resourcesInLake, versionTime } from './layout.ts'
import { intervalKey, type JournalState } from './ledger.ts'
import { mergedIn, monthFolder, namesIn, type MergedFile, rowsSql } from './merged.ts'
import { z } from 'zod'
import { Database } from '../lib/duckdb.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'

/**
 * A day's versions up to the current one, oldest first. If two were fetched in the same
 * millisecond, the later name wins. Files newer than the current version are not recorded yet
 * and are left out.
 *
 * @param versions oldest first.
 */
export function versionsUpTo(versions: readonly string[], current: string): string[] {
  const earlier = versions.filter((name) => versionTime(name) < versionTime(current))
  const latest = new Map(earlier.map((name) => [versionTime(name), name]))
  return [...latest.values(), current]
}

const VERSION = /^\d{8}T\d{9}Z-[0-9a-f]{16}\.parquet$/

/**
 * A day's versions, oldest first: those in its folder, and those in the merged files of its month.
 * Files with other names are ignored.
 */
export function versionsIn(folder: string): string[] {
  const day = basename(folder).slice('date='.length)
  const own = namesIn(folder) // first: `compact` may move them to a merged file meanwhile
  const merged = mergedIn(monthFolder(folder)).flatMap(({ versions }) =>
    versions.filter((version) => version.day === day).map(({ file }) => file),
  )
  return versionsAmong([...own, ...merged])
}

function versionsAmong(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => VERSION.test(name)))].sort()
}

/** The versions of one day in the lake. */
export interface RawDay {
  readonly resource: string
  readonly day: Day
  /** Oldest first. */
  readonly versions: readonly string[]
}

/**
 * All days of one organisation in the lake: lists each day's folder and reads the manifests of
 * merged files, but opens no file. Needs no lock: the folders come first, because `compact` moves
 * versions from them to merged files.
 */
export async function rawDays(dataFolder: string, orgId: string): Promise<RawDay[]> {
  const days: RawDay[] = []
  for (const resource of await resourcesInLake(dataFolder)) {
    const folder = rawOf(dataFolder, orgId, resource)
    const dates = await foldersIn(folder, 'date=')
    // faster than to list several at once
    const known = new Map(
      dates.filter(isDay).map((day) => [day, namesIn(join(folder, `date=${day}`))]),
    )
    for (const merged of await mergedFiles(dataFolder, orgId, resource)) {
      for (const { day, file } of merged.versions) known.set(day, [...(known.get(day) ?? []), file])
    }
    for (const [day, names] of [...known].sort())
      days.push({ resource, day, versions: versionsAmong(names) })
  }
  return days
}

/** All days that landed: those that the ledger names, also without a version, and those in the lake. */
export async function knownDays(journal: JournalState): Promise<RawDay[]> {
  const { dataFolder, orgId, intervals, forgotten } = journal
  const days = new Map<string, RawDay>()
  for (const { resource, day, file } of [...intervals.values(), ...forgotten.values()])
    if (file !== null) days.set(intervalKey(resource, day), { resource, day, versions: [] })
  for (const day of await rawDays(dataFolder, orgId))
    days.set(intervalKey(day.resource, day.day), day)
  return [...days.values()]
}

export async function mergedFiles(
  dataFolder: string,
  orgId: string,
  resource: string,
): Promise<MergedFile[]> {
  return (await mergedFolders(dataFolder, orgId, resource)).flatMap(mergedIn)
}

/** The folders of months that may have merged files. */
export async function mergedFolders(
  dataFolder: string,
  orgId: string,
  resource: string,
): Promise<string[]> {
  const folder = rawOf(dataFolder, orgId, resource)
  const months = (await foldersIn(folder, 'date=')).filter((date) => MONTH.test(date))
  return months.map((month) => join(folder, `date=${month}`))
}

const MONTH = /^\d{4}-\d\d$/

const storedRows = z.array(
  z
    .object({
      item: z.string(),
      ordinal: z.coerce.number(),
      page: z.coerce.number(),
      fetched_at: z.coerce.number(),
      request: z.string(),
      request_id: z.string().nullable(),
      run_id: z.string(),
    })
    .transform(({ item, ordinal, page, request, ...row }): RawRow => {
      const { fetched_at: fetchedAt, request_id: requestId, run_id: runId } = row
      return { item, ordinal, origin: { page, fetchedAt, request, requestId, runId } }
    }),
)

/** Where a page's rows come from; repeated on every raw row. */
export interface PageOrigin {
  readonly page: number
  /** By the platform's clock, milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly request: string
  readonly requestId: string | null
  readonly runId: string
}

/** A row as it is in the lake: its JSON text, and where it comes from. */
export interface RawRow {
  readonly item: string
  readonly ordinal: number
  readonly origin: PageOrigin
}

/**
 * The rows of one version in the lake, as served, in order.
 *
 * @returns null for a file that cannot be read.
 */
export async function readRows(path: string): Promise<readonly RawRow[] | null> {
  // in a separate database: reading a damaged file may leave a database unusable
  await using database = await Database.open(':memory:', processLimits().verificationOfOne)
  return await readRowsOfVerified(database, path)
}

/**
 * The same for a verified file, in an open database, which takes a quarter of the time. A damaged
 * file may leave the database unusable: use `readRows` for a file that was not verified.
 */
export async function readRowsOfVerified(
  database: Database,
  path: string,
): Promise<readonly RawRow[] | null> {
  const rows = await database
    .rows(fill(statement('raw/rows'), { rows: rowsSql([path]) }))
    .catch(() => null)
  return storedRows.safeParse(rows).data ?? null
}
