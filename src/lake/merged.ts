import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { dayShape } from './ledger.ts'
import { Recent } from './recent.ts'
import { listLiteral, literal } from '../lib/duckdb.ts'
import { isMissing, sha256OfFile, writeAtomic } from '../lib/files.ts'
import { grouped } from '../lib/grouped.ts'
import { fill, statement } from '../lib/package.ts'

const count = z.number().int().nonnegative()

const mergedVersion = z.object({
  day: dayShape,
  /** The name of the file that it landed in; size, checksum and metadata are of the same file. */
  file: z.string().min(1),
  /** The number of its first row in the merged file, from 0. */
  first: count,
  rows: count,
  bytes: count,
  /** Hex. */
  sha256: z.string().min(1),
  /** The metadata. */
  said: z.record(z.string(), z.string()),
})

export type MergedVersion = Readonly<z.infer<typeof mergedVersion>>

export const mergedVersions = z.array(mergedVersion)

const manifest = z.object({
  /** SHA-256 of the merged file, hex. */
  sha256: z.string().min(1),
  versions: mergedVersions,
  /** Replaced files that may still exist, relative to the organisation's folder. */
  replaces: z.array(z.string().regex(/^date=[\d-]{7,10}[/\\][\w-]+\.parquet$/)),
})

type Manifest = Readonly<z.infer<typeof manifest>>

/** Manifests of earlier releases have no checksum. */
const manifestFile = manifest.extend({
  /** SHA-256 of the rest: a wrong range of rows would be read as another version. */
  checksum: z.exactOptional(z.string()),
})

function checksumOf(content: Manifest): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** A file that holds several versions of one resource and month. */
export interface MergedFile extends Manifest {
  readonly path: string
}

export const MERGED_NAME = /^merged-[0-9a-f]{16}\.parquet$/

export function manifestOf(path: string): string {
  return path.replace(/\.parquet$/, '.json')
}

/** The folder of a month's merged files, from the folder of one of its days. */
export function monthFolder(dayFolder: string): string {
  return join(dirname(dayFolder), basename(dayFolder).slice(0, 'date=YYYY-MM'.length))
}

/**
 * The merged files in a month's folder. One without a manifest, or the reverse, does not count. If
 * `compact` replaces one meanwhile, the folder is listed again.
 */
export function mergedIn(folder: string): MergedFile[] {
  const names = namesIn(folder)
  const merged: MergedFile[] = []
  for (const name of names) {
    if (!MERGED_NAME.test(name) || !names.includes(manifestOf(name))) continue
    const path = join(folder, name)
    const found = readManifest(manifestOf(path))
    if (found !== undefined) merged.push({ path, ...found })
    else if (!existsSync(path)) return mergedIn(folder)
  }
  return merged
}

export function namesIn(folder: string): string[] {
  try {
    const isThere = statSync(folder, { throwIfNoEntry: false }) !== undefined
    return isThere ? readdirSync(folder).sort() : []
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Enough for the months of the organisation that is being processed. */
const MOST_KEPT = 256

/** What was read of files, by path, and the state that they had. */
const manifests = new Recent<{ readonly seen: string; readonly content: Manifest }>(MOST_KEPT)
const sums = new Recent<{ readonly seen: string; readonly sum: string }>(MOST_KEPT)

/** Changes when a file is written again. */
function stateOf(path: string): string {
  const { mtimeMs, size, ino } = statSync(path)
  return [mtimeMs, size, ino].join(' ')
}

function readManifest(path: string): Manifest | undefined {
  try {
    const seen = stateOf(path)
    const known = manifests.get(path)
    if (known?.seen === seen) return known.content
    const { checksum, ...content } = manifestFile.parse(JSON.parse(readFileSync(path, 'utf8')))
    if (checksum !== undefined && checksum !== checksumOf(content)) return undefined
    manifests.set(path, { seen, content })
    return content
  } catch (error) {
    const isUnreadable = error instanceof SyntaxError || error instanceof z.ZodError
    if (isUnreadable || isMissing(error)) return undefined
    throw error
  }
}

/** @param path of the merged file. */
export async function writeManifest(path: string, content: Manifest): Promise<void> {
  const whole = manifest.parse(content) // the order of its keys is that of a reader
  const text = JSON.stringify({ ...whole, checksum: checksumOf(whole) })
  await writeAtomic(manifestOf(path), `${text}\n`)
}

export interface MergedPlace {
  readonly merged: MergedFile
  readonly version: MergedVersion
}

/**
 * The place of a version in a merged file; undefined if it has its own file, or none.
 *
 * @param path of the file that it landed in.
 */
export function mergedPlace(path: string): MergedPlace | undefined {
  const [folder, file] = [dirname(path), basename(path)]
  const day = basename(folder).slice('date='.length)
  for (const merged of mergedIn(monthFolder(folder))) {
    const version = merged.versions.find((each) => each.file === file && each.day === day)
    if (version !== undefined) return { merged, version }
  }
  return undefined
}

/** SHA-256 of a merged file's bytes as they are, hex. */
export async function sha256OfMerged(path: string): Promise<string> {
  const seen = stateOf(path)
  const known = sums.get(path)
  if (known?.seen === seen) return known.sum
  const sum = await sha256OfFile(path)
  sums.set(path, { seen, sum })
  return sum
}

/**
 * SHA-256 of the file that a version landed in, hex. If the version is in a merged file whose bytes
 * have changed, returns the sum of those bytes, which matches no version.
 */
export async function sha256OfVersion(path: string): Promise<string> {
  const place = mergedPlace(path)
  if (place === undefined) return sha256OfFile(path)
  const found = await sha256OfMerged(place.merged.path)
  return found === place.merged.sha256 ? place.version.sha256 : found
}

/** SHA-256 of the file that a version landed in, if its rows were verified: the merged file is not read. */
export async function sha256AsLanded(path: string): Promise<string> {
  return mergedPlace(path)?.version.sha256 ?? sha256OfFile(path)
}

/** The size of the file that a version landed in. */
export async function bytesOfVersion(path: string): Promise<number> {
  return mergedPlace(path)?.version.bytes ?? (await stat(path)).size
}

/**
 * SQL of a relation with the rows of versions, and with the path of each row's version as
 * `filename`.
 *
 * @param paths of the files that the versions landed in; at least one.
 */
export function rowsSql(paths: readonly string[]): string {
  const { loose, merged } = sorted(paths)
  const parts = [...merged].map(([file, versions]) => mergedRowsSql(file, versions))
  if (loose.length === 0) return union(parts)
  const own = `read_parquet(${listLiteral(loose)}, filename = true, hive_partitioning = false)`
  return parts.length === 0 ? own : union([`select * from ${own}`, ...parts])
}

/** A version in a merged file, and the path of the file that it landed in. */
interface Placed {
  readonly path: string
  readonly version: Pick<MergedVersion, 'first' | 'rows'>
}

export function mergedRowsSql(file: string, placed: readonly Placed[]): string {
  const places = placed.map(({ path, version: { first, rows } }) => {
    return { path, first, last: first + rows - 1 }
  })
  return fill(statement('raw/merged_rows'), {
    file: literal(file),
    first: String(Math.min(...places.map(({ first }) => first))),
    last: String(Math.max(...places.map(({ last }) => last))),
    places: literal(JSON.stringify(places)),
  })
}

/**
 * SQL of a relation with the metadata of the files that versions landed in: `file_name`, `key`,
 * `value`.
 */
export function metadataSql(paths: readonly string[]): string {
  const { loose, merged } = sorted(paths)
  const versions = [...merged.values()].flat().map(({ path, version }) => {
    return { file_name: path, said: Object.entries(version.said) }
  })
  return union([
    ...(loose.length === 0 ? [] : [fill(statement('raw/metadata'), { files: listLiteral(loose) })]),
    ...(versions.length === 0
      ? []
      : [fill(statement('raw/metadata_in_manifest'), { said: literal(JSON.stringify(versions)) })]),
  ])
}

function union(selects: readonly string[]): string {
  return `(\n${selects.join('\nunion all by name\n')}\n)`
}

/** Sorts versions into those with their own file and, by file, those in merged files. */
function sorted(paths: readonly string[]) {
  const loose: string[] = []
  const placed: (Placed & MergedPlace)[] = []
  for (const path of paths) {
    const place = mergedPlace(path)
    if (place === undefined) loose.push(path)
    else placed.push({ path, ...place })
  }
  return { loose, merged: grouped(placed, ({ merged }) => merged.path) }
}
