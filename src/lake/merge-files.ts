import { createHash } from 'node:crypto'
import { existsSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { AppError } from '../lib/errors.ts'
import { Database, listLiteral, literal } from '../lib/duckdb.ts'
import { confirmLease } from '../lib/fence.ts'
import { codeOf, putInPlace, syncedSums, withTemporary } from '../lib/files.ts'
import { grouped, packed } from '../lib/grouped.ts'
import { isJson } from '../lib/json.ts'
import { processLimits } from '../lib/machine.ts'
import { fill, statement } from '../lib/package.ts'
import { rawOf, resourcesInLake, versionPath, type RawFile } from './layout.ts'
import { mergedFiles, mergedFolders, rawDays } from './raw-days.ts'
import {
  bytesOfVersion,
  manifestOf,
  MERGED_NAME,
  mergedIn,
  mergedRowsSql,
  mergedVersions,
  namesIn,
  rowsSql,
  metadataSql,
  sha256AsLanded,
  sha256OfMerged,
  type MergedVersion,
  writeManifest,
} from './merged.ts'
import { addDays, monthOf, parseDay, type Day } from '../lib/days.ts'
import { isOld } from './ledger.ts'

/** A file of the lake, and the versions in it: one, or several in a merged file. */
export interface RawSource {
  readonly orgId: string
  readonly resource: string
  readonly path: string
  readonly bytes: number
  readonly versions: readonly RawFile[]
}

/** Files of one resource, organisation and month that become one file. */
export interface MergeTask {
  readonly orgId: string
  readonly resource: string
  /** `YYYY-MM`. */
  readonly month: string
  /** At least two, in the order of their first days. */
  readonly sources: readonly RawSource[]
  readonly bytes: number
}

/** A file of at least this size is not merged. */
const LARGE_BYTES = 128 * 2 ** 20

/** The highest total size of the files that are merged into one. */
const MOST_BYTES = 512 * 2 ** 20

/**
 * Plans merges of files below the size of a large one, in months whose days have all had their
 * last scheduled recheck.
 *
 * @param now by the platform's clock, milliseconds since the epoch.
 */
export function planMerges(sources: readonly RawSource[], now: number): MergeTask[] {
  const small = sources.filter(
    (source) => source.bytes < LARGE_BYTES && isOld(lastDayOf(monthIn(source)), now),
  )
  const months = grouped(small, (source) =>
    [source.orgId, source.resource, monthIn(source)].join('\n'),
  )
  return [...months].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, own]) => tasksOf(own))
}

function tasksOf(sources: readonly RawSource[]): MergeTask[] {
  const inOrder = [...sources].sort((a, b) => (placeIn(a) < placeIn(b) ? -1 : 1))
  return packed(inOrder, MOST_BYTES).flatMap((pack) => {
    const [first] = pack
    if (first === undefined || pack.length < 2) return []
    const bytes = pack.reduce((sum, source) => sum + source.bytes, 0)
    const { orgId, resource } = first
    return [{ orgId, resource, month: monthIn(first), sources: pack, bytes }]
  })
}

/** Sorts a merged file before other files of the same day, so that it is extended. */
function placeIn({ versions: [first], path }: RawSource): string {
  return `${first?.day ?? ''} ${first?.file ?? ''} ${path}`
}

function monthIn({ versions: [first] }: RawSource): string {
  return first === undefined ? '' : monthOf(first.day)
}

function lastDayOf(month: string): Day {
  const nextMonth = addDays(parseDay(`${month}-28`, 'the month'), 4)
  return addDays(parseDay(`${monthOf(nextMonth)}-01`, 'the month'), -1)
}

/** Every raw file of an organisation, with the versions in it. Opens none. */
export async function rawSources(dataFolder: string, orgId: string): Promise<RawSource[]> {
  const sources: RawSource[] = []
  const merged = new Set<string>()
  for (const resource of await resourcesInLake(dataFolder)) {
    for (const { path, versions } of await mergedFiles(dataFolder, orgId, resource)) {
      const own = versions.map(({ day, file }) => ({ resource, day, file }))
      for (const raw of own) merged.add(versionPath(dataFolder, orgId, raw))
      if (hasAllRows(versions)) {
        sources.push({ orgId, resource, path, bytes: statSync(path).size, versions: own })
      }
    }
  }
  for (const { resource, day, versions } of await rawDays(dataFolder, orgId)) {
    for (const file of versions) {
      const raw = { resource, day, file }
      const path = versionPath(dataFolder, orgId, raw)
      if (merged.has(path)) continue
      const { size } = await stat(path)
      sources.push({ orgId, resource, path, bytes: size, versions: [raw] })
    }
  }
  return sources
}

/** False for a merged file from which damaged versions were removed: it is not merged again. */
function hasAllRows(versions: readonly MergedVersion[]): boolean {
  let next = 0
  return versions.every(({ first, rows }) => {
    const isNext = first === next
    next = first + rows
    return isNext
  })
}

/**
 * Merges the files of a task, whose versions the caller has verified: a temporary file is
 * written, compared with them, synced and renamed; then they are removed.
 *
 * @returns the path of the merged file.
 * @throws AppError if a version in the written file differs; nothing has changed then.
 */
export async function mergeFiles(
  dataFolder: string,
  database: Database,
  task: MergeTask,
): Promise<string> {
  const { orgId, resource, month, sources } = task
  const folder = join(rawOf(dataFolder, orgId, resource), `date=${month}`)
  const { placed, contents } = await contentsOfTask(dataFolder, database, task)
  const versions = placed.map(({ version }) => version)
  const path = join(folder, mergedName(versions))
  await withTemporary(path, async (temporary) => {
    const merge = fill(statement('raw/merge'), {
      files: listLiteral(sources.map((source) => source.path)),
      file: literal(temporary),
      org_id: literal(orgId),
      resource: literal(resource),
      month: literal(month),
      versions: literal(JSON.stringify(versions)),
    })
    await database.run(merge)
    const written = await contentsOf(database, `(${mergedRowsSql(temporary, placed)})`)
    const other = placed.find((each) => written.get(each.path) !== contents.get(each.path))
    if (other !== undefined) {
      const what = `${resource} ${month} of ${orgId}: the merged file differs from ${relative(dataFolder, other.path)}`
      throw new AppError(`${what}; nothing was changed`)
    }
    const { sha256 } = await syncedSums(temporary)
    const replaces = sources.map((source) => relative(dirname(folder), source.path))
    await writeManifest(path, { sha256, versions, replaces })
    await putInPlace(temporary, path)
  })
  await removeReplaced(path)
  return path
}

/** A digest of the versions, so that a repeated merge has the same name. */
function mergedName(versions: readonly MergedVersion[]): string {
  const hash = createHash('sha256')
  for (const { day, file } of versions) hash.update(`${day}/${file}\n`)
  return `merged-${hash.digest('hex').slice(0, 16)}.parquet`
}

/** `placed`: the versions as they will be in the merged file, in order. */
async function contentsOfTask(
  dataFolder: string,
  database: Database,
  { orgId, sources }: MergeTask,
) {
  const all = sources.flatMap((source) => source.versions)
  const paths = all.map((raw) => versionPath(dataFolder, orgId, raw))
  const contents = await contentsOf(database, rowsSql(paths))
  const found = metadata.parse(await database.rows(`from ${metadataSql(paths)}`))
  const metadataOf = grouped(found, ({ file_name: path }) => path)
  let next = 0
  const placed = []
  for (const raw of all) {
    const path = versionPath(dataFolder, orgId, raw)
    const rows = Number(contents.get(path)?.split(' ', 1)[0] ?? 0)
    const version: MergedVersion = {
      day: raw.day,
      file: raw.file,
      first: next,
      rows,
      bytes: await bytesOfVersion(path),
      sha256: await sha256AsLanded(path),
      said: Object.fromEntries((metadataOf.get(path) ?? []).map(({ key, value }) => [key, value])),
    }
    next += rows
    placed.push({ path, version })
  }
  return { placed, contents }
}

const metadata = z.array(z.object({ file_name: z.string(), key: z.string(), value: z.string() }))
const fileContents = z.array(z.object({ filename: z.string(), contents: z.string() }))

/** The number of rows, and a digest of all their columns, by the path of a version. */
async function contentsOf(database: Database, rows: string): Promise<ReadonlyMap<string, string>> {
  const found = fileContents.parse(await database.rows(fill(statement('raw/contents'), { rows })))
  return new Map(found.map(({ filename, contents }) => [filename, contents]))
}

/** Removes the files that a merged file replaces, then clears the list in its manifest. */
async function removeReplaced(path: string): Promise<void> {
  const folder = dirname(dirname(path))
  const merged = mergedIn(dirname(path)).find((each) => each.path === path)
  if (merged === undefined || merged.replaces.length === 0) return
  confirmLease(path)
  const replaced = merged.replaces.map((name) => join(folder, name))
  for (const file of replaced) rmSync(file, { force: true })
  for (const file of replaced) {
    if (MERGED_NAME.test(basename(file))) rmSync(manifestOf(file), { force: true })
    else removeEmptyFolder(dirname(file))
  }
  const { sha256, versions } = merged
  await writeManifest(path, { sha256, versions, replaces: [] })
}

function removeEmptyFolder(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    const code = codeOf(error) ?? ''
    // ENOTDIR: a link to a folder
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(code)) throw error
  }
}

/**
 * Completes the merges of a killed run: removes replaced files and manifests without a file, and
 * writes missing manifests from the metadata of their files. The caller holds the lock.
 *
 * @returns the versions in files whose manifest was missing, whose rows the caller must verify,
 * and the paths of files whose metadata cannot be read.
 */
export async function finishMerges(dataFolder: string, orgId: string) {
  const restored: RawFile[] = []
  const unreadable: string[] = []
  for (const resource of await resourcesInLake(dataFolder)) {
    for (const folder of await mergedFolders(dataFolder, orgId, resource)) {
      const merged = new Map(mergedIn(folder).map((each) => [each.path, each]))
      for (const name of namesIn(folder)) {
        const path = join(folder, name)
        if (!MERGED_NAME.test(name)) {
          if (isManifestAlone(path)) rmSync(path, { force: true })
          continue
        }
        const known = merged.get(path)
        if (known === undefined) {
          const versions = await restoreManifest(path)
          if (versions.length === 0) unreadable.push(path)
          restored.push(...versions.map(({ day, file }) => ({ resource, day, file })))
        } else if (known.replaces.length > 0 && (await sha256OfMerged(path)) === known.sha256) {
          await removeReplaced(path)
        }
      }
    }
  }
  return { restored, unreadable }
}

function isManifestAlone(path: string): boolean {
  const file = path.replace(/\.json$/, '.parquet')
  return path.endsWith('.json') && MERGED_NAME.test(basename(file)) && !existsSync(file)
}

/** @returns the versions in the file; none if its metadata cannot be read. */
async function restoreManifest(path: string): Promise<readonly MergedVersion[]> {
  const sql = fill(statement('raw/merged_metadata'), { file: literal(path) })
  await using database = await Database.open(':memory:', processLimits().verificationOfOne)
  const [row] = await database.rows(sql).catch(() => [])
  const json = row?.['versions']
  if (typeof json !== 'string' || !isJson(json)) return []
  const { data: versions } = mergedVersions.safeParse(JSON.parse(json))
  if (versions === undefined) return []
  await writeManifest(path, { sha256: await sha256OfMerged(path), versions, replaces: [] })
  return versions
}
