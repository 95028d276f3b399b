import { constants, existsSync, type Stats } from 'node:fs'
import { copyFile, lstat, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import {
  commitFile,
  fromPathSegment,
  linkOrCopy,
  makeReadOnly,
  namesEnding,
  orIfMissing,
  pathSegment,
  readJson,
  removeFile,
  sha256OfFile,
  withTemporary,
  writeAtomic,
} from '../lib/files.ts'
import { inCamelCase, inSnakeCase } from '../lib/snake-case.ts'
import { moveAside } from './quarantine.ts'

interface Publication extends Pick<
  PublishedRecord,
  'runId' | 'builtAt' | 'asOf' | 'content' | 'meta'
> {
  readonly target: string
  /** The record of the file in place, if it is verified as published; else null. */
  readonly present: PublishedRecord | null
  readonly keep: number
  readonly warn: (message: string) => void
}

/**
 * Replaces the published file by the finished `temporary` one, read-only. Keeps the old one for a
 * rollback if it was verified, holds the latest data, and has other content. The new file is recorded
 * before it is moved, and the records of files that are gone are removed after that, so that the
 * file in place is always on record, even if the process is killed. Returns the size of the file.
 */
export async function publishFile(temporary: string, publication: Publication): Promise<number> {
  const { target, runId, builtAt, asOf, content, meta, present, keep, warn } = publication
  await makeReadOnly(temporary)
  const { size: bytes, mtime } = await stat(temporary)
  const sha256 = await sha256OfFile(temporary)
  const modifiedAt = mtime.toISOString()
  const record = { runId, builtAt, asOf, sha256, bytes, modifiedAt, content, meta }
  const others = (await readRecords(target)).filter(
    (each) => each.runId !== runId && each.runId !== present?.runId,
  )
  // the replaced file comes before the new one, also if a rollback had published it again
  const records = present === null ? others : [...others, present]
  await writeRecords(target, [...records, record])
  const isKept = present !== null && present.asOf === null && present.content !== content
  if (isKept && keep > 0) {
    await keepPublished(target, present.runId).catch((error: unknown) => {
      warn(`the published warehouse could not be kept for a rollback: ${String(error)}`)
    })
  }
  await replacePublished(temporary, target, runId)
  await prune(publication, records, record)
  return bytes
}

/** Removes kept files beyond the limit, and those with the same content as another. */
async function prune(
  { target, runId, keep }: Publication,
  records: readonly PublishedRecord[],
  current: PublishedRecord,
): Promise<void> {
  const seen = new Set([current.content])
  const staying = new Set<string>()
  for (const { runId: id } of (await keptFiles(target)).toReversed()) {
    const content = records.find((each) => each.runId === id)?.content ?? id
    const isOther = id !== runId && !seen.has(content)
    seen.add(content)
    if (isOther && staying.size < keep) staying.add(id)
    else await removeFile(keptPath(target, id))
  }
  await writeRecords(target, [...records.filter((each) => staying.has(each.runId)), current])
}

/** Keeps the published file, which the run built, before it is replaced. */
export async function keepPublished(target: string, runId: string): Promise<void> {
  const path = keptPath(target, runId)
  await withTemporary(path, async (temporary) => {
    await linkOrCopy(target, temporary)
    await commitFile(temporary, path)
  })
}

/**
 * Removes the old file's log first, because it would be applied to the new file. A folder at the
 * path of the file goes to quarantine: nothing in it is deleted.
 */
async function replacePublished(temporary: string, target: string, runId: string): Promise<void> {
  await rm(`${target}.wal`, { recursive: true, force: true })
  const found = await statusOf(target)
  if (found?.isDirectory() === true) {
    const name = `${basename(target)}-${pathSegment(runId)}`
    await moveAside(target, join(dirname(target), 'quarantine', name))
  }
  await commitFile(temporary, target)
}

/**
 * Publishes a kept file atomically. The kept file stays as a separate copy, which a write to
 * the published file cannot change.
 */
export async function putBack(target: string, record: PublishedRecord): Promise<void> {
  await withTemporary(target, async (temporary) => {
    await copyFile(keptPath(target, record.runId), temporary, constants.COPYFILE_FICLONE)
    await makeReadOnly(temporary)
    const modifiedAt = (await stat(temporary)).mtime.toISOString()
    const records = await readRecords(target)
    await writeRecords(
      target,
      records.map((each) => (each.runId === record.runId ? { ...record, modifiedAt } : each)),
    )
    await replacePublished(temporary, target, record.runId)
  })
}

/** An earlier published file, kept under the id of the run that built it. */
export interface KeptFile {
  readonly runId: string
  readonly path: string
  readonly bytes: number
}

const ENDING = '.duckdb'

/** `<data>/published`: earlier published files, `<run_id>.duckdb`. */
function publishedFolder(target: string): string {
  return join(dirname(target), 'published')
}

function keptPath(target: string, runId: string): string {
  return join(publishedFolder(target), `${pathSegment(runId)}${ENDING}`)
}

/** The kept files in the order of their publication; first those that are not on record. */
export async function keptFiles(target: string): Promise<KeptFile[]> {
  const published = (await readRecords(target)).map(({ runId }) => runId)
  const kept: KeptFile[] = []
  for (const name of await namesEnding(publishedFolder(target), ENDING)) {
    const runId = fromPathSegment(name.slice(0, -ENDING.length))
    if (runId === undefined) continue
    const path = keptPath(target, runId)
    const file = await orIfMissing(stat(path), undefined) // a run may have removed it
    if (file !== undefined) kept.push({ runId, path, bytes: file.size })
  }
  return inOrder(kept, published)
}

/** Sorts by publication, not by run id: the id of a run with a wrong clock is out of order. */
export function inOrder<T extends { readonly runId: string }>(
  files: readonly T[],
  published: readonly string[],
): T[] {
  return files.toSorted((a, b) => published.indexOf(a.runId) - published.indexOf(b.runId))
}

const recordShape = z.object({
  runId: z.string(),
  builtAt: z.iso.datetime(),
  /** The point in time whose data it holds; null: all that had landed. */
  asOf: z.iso.datetime().nullable(),
  /** SHA-256 of its bytes, hex. */
  sha256: z.string(),
  bytes: z.number(),
  modifiedAt: z.iso.datetime(),
  /** Digest of the inputs of its tables: equal digests mean equal rows. */
  content: z.string(),
  /** Digest of its schema `meta`, without run ids and times. */
  meta: z.string(),
})

const recordsShape = z.object({ files: z.array(z.preprocess(inCamelCase, recordShape)) })

/** The record of a file that a run published. Times are ISO 8601, UTC. */
export type PublishedRecord = Readonly<z.infer<typeof recordShape>>

/** Whether the file at the published path is the recorded one. */
export type Verdict =
  | { readonly state: 'published'; readonly record: PublishedRecord }
  | { readonly state: 'absent' }
  | { readonly state: 'changed'; readonly reason: string }

/** `<data>/state/warehouse.duckdb.json`, for `<data>/warehouse.duckdb`. */
export function recordPath(target: string): string {
  return join(dirname(target), 'state', `${basename(target)}.json`)
}

/** The records of published files that still exist, oldest first. */
export async function readRecords(target: string): Promise<PublishedRecord[]> {
  const { data } = recordsShape.safeParse(await readJson(recordPath(target), () => undefined))
  return data?.files ?? []
}

/** Call this before replacing a file, so that no crash leaves an unrecorded file in place. */
export async function writeRecords(
  target: string,
  records: readonly PublishedRecord[],
): Promise<void> {
  const files = records.map(inSnakeCase)
  await writeAtomic(recordPath(target), `${JSON.stringify({ files }, null, 2)}\n`)
}

/**
 * Whether the file is one that was published. Reads the whole file, because size and
 * modification time can be restored after a change. Needs no lock: a file that a run replaces
 * meanwhile is verified again. `path`: the file to verify, if not the one at `target`.
 */
export async function verifyPublished(target: string, path = target): Promise<Verdict> {
  const before = await statusOf(path)
  const early = await inspectPublished(target, path)
  const verdict = early ?? (await compareDigest(target, path, await sha256OfFile(path)))
  const isReplaced = verdict.state === 'changed' && (await statusOf(path))?.ino !== before?.ino
  return isReplaced ? verifyPublished(target, path) : verdict
}

/** The verdict without reading the file; undefined if it may be the published one. */
export async function inspectPublished(
  target: string,
  path = target,
): Promise<Exclude<Verdict, { state: 'published' }> | undefined> {
  const found = await statusOf(path)
  if (found === undefined) return { state: 'absent' }
  if (!found.isFile()) return changed('it is not a regular file')
  const log = `${path}.wal`
  if (existsSync(log)) return changed(`another program has written ${basename(log)} next to it`)
  const records = await readRecords(target)
  if (records.length === 0) return changed('there is no record of what was published')
  if (records.some(({ bytes }) => bytes === found.size)) return undefined
  return changed(`it has ${found.size} bytes, unlike any published file`)
}

/** The verdict on a file of this digest. */
export async function compareDigest(
  target: string,
  path: string,
  sha256: string,
): Promise<Verdict> {
  const record = (await readRecords(target)).find((each) => each.sha256 === sha256)
  if (record !== undefined) return { state: 'published', record }
  const at = (await statusOf(path))?.mtime.toISOString() ?? 'an unknown time'
  return changed(`its SHA-256 is not the recorded one; it was last changed at ${at}`)
}

/** The record with the file's size and modification time: for display, not for builds. */
export async function recordByTime(target: string): Promise<PublishedRecord | undefined> {
  const found = await statusOf(target)
  if (found === undefined) return undefined
  const modifiedAt = found.mtime.toISOString()
  return (await readRecords(target)).findLast(
    (each) => each.bytes === found.size && each.modifiedAt === modifiedAt,
  )
}

function changed(reason: string): { readonly state: 'changed'; readonly reason: string } {
  return { state: 'changed', reason }
}

async function statusOf(path: string): Promise<Stats | undefined> {
  return orIfMissing(lstat(path), undefined)
}

const rollbackShape = z
  .object({
    run_id: z.string(),
    rolled_back_at: z.iso.datetime(),
    /** The run that built the file which was published before; null: it could not be read. */
    from: z.string().nullable(),
    to: z.string(),
  })
  .transform(({ run_id: runId, rolled_back_at: at, ...runs }) => ({ runId, at, ...runs }))

/** A rollback: which run restored the file of which run. */
export type Rollback = Readonly<z.output<typeof rollbackShape>>

function rollbackPath(dataFolder: string): string {
  return join(dataFolder, 'state', 'rollback.json')
}

/** The last rollback. It is in effect while the file that it restored is the published one. */
export async function readRollback(dataFolder: string): Promise<Rollback | undefined> {
  return rollbackShape.safeParse(await readJson(rollbackPath(dataFolder), () => undefined)).data
}

export async function writeRollback(
  dataFolder: string,
  { runId, at, from, to }: Rollback,
): Promise<void> {
  const record = { run_id: runId, rolled_back_at: at, from, to }
  await writeAtomic(rollbackPath(dataFolder), `${JSON.stringify(record, null, 2)}\n`)
}

/**
 * Call this after a build, also with `--as-of`: then its result is published, not the restored
 * file.
 */
export async function forgetRollback(dataFolder: string): Promise<void> {
  await removeFile(rollbackPath(dataFolder))
}
