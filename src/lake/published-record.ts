import { existsSync, type Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { orIfMissing, readJson, sha256OfFile, writeAtomic, removeFile } from '../lib/files.ts'
import { inCamelCase, inSnakeCase } from '../lib/snake-case.ts'

const record = z.object({
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

const shape = z.object({ files: z.array(z.preprocess(inCamelCase, record)) })

/** The record of a file that a run published. Times are ISO 8601, UTC. */
export type PublishedRecord = Readonly<z.infer<typeof record>>

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
  const { data } = shape.safeParse(await readJson(recordPath(target), () => undefined))
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
 * modification time can be restored after a change. `path`: the file to verify, if not the
 * one at `target`.
 */
export async function verifyPublished(target: string, path = target): Promise<Verdict> {
  const first = await inspectPublished(target, path)
  return first ?? judge(target, path, await sha256OfFile(path))
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
export async function judge(target: string, path: string, sha256: string): Promise<Verdict> {
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

const rollback = z
  .object({
    run_id: z.string(),
    rolled_back_at: z.iso.datetime(),
    /** The run that built the file which was published before; null: it could not be read. */
    from: z.string().nullable(),
    to: z.string(),
  })
  .transform(({ run_id: runId, rolled_back_at: at, ...runs }) => ({ runId, at, ...runs }))

/** A rollback: which run restored the file of which run. */
export type Rollback = Readonly<z.output<typeof rollback>>

function rollbackPath(dataFolder: string): string {
  return join(dataFolder, 'state', 'rollback.json')
}

/** The last rollback. It is in effect while the file that it restored is the published one. */
export async function readRollback(dataFolder: string): Promise<Rollback | undefined> {
  return rollback.safeParse(await readJson(rollbackPath(dataFolder), () => undefined)).data
}

export async function writeRollback(
  dataFolder: string,
  { runId, at, from, to }: Rollback,
): Promise<void> {
  const record = { run_id: runId, rolled_back_at: at, from, to }
  await writeAtomic(rollbackPath(dataFolder), `${JSON.stringify(record, null, 2)}\n`)
}

/** Call this after a build, also of the past: then its result is published, not the restored file. */
export async function forgetRollback(dataFolder: string): Promise<void> {
  await removeFile(rollbackPath(dataFolder))
}
