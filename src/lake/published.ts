import { constants } from 'node:fs'
import { copyFile, link, lstat, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  fromPathSegment,
  namesEnding,
  orIfMissing,
  makeReadOnly,
  removeFile,
  codeOf,
  pathSegment,
  commitFile,
  sha256OfFile,
  withTemporary,
} from '../lib/files.ts'
import { moveAside } from './quarantine.ts'
import { readRecords, writeRecords, type PublishedRecord } from './published-record.ts'

/** An earlier published file, kept under the id of the run that built it. */
export interface KeptFile {
  readonly runId: string
  readonly path: string
  readonly bytes: number
}

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

/**
 * Replaces the published file by the finished `temporary` one, read-only. Keeps the old one for a
 * rollback if it was verified, is not of the past, and has other content. The new file is recorded
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
  now: PublishedRecord,
): Promise<void> {
  const seen = new Set([now.content])
  const staying = new Set<string>()
  for (const { runId: id } of (await keptFiles(target)).toReversed()) {
    const content = records.find((each) => each.runId === id)?.content ?? id
    const isOther = id !== runId && !seen.has(content)
    seen.add(content)
    if (isOther && staying.size < keep) staying.add(id)
    else await removeFile(keptPath(target, id))
  }
  await writeRecords(target, [...records.filter((each) => staying.has(each.runId)), now])
}

/** Keeps the published file, which the run built, before it is replaced. */
export async function keepPublished(target: string, runId: string): Promise<void> {
  const path = keptPath(target, runId)
  await withTemporary(path, async (temporary) => {
    await share(target, temporary)
    await commitFile(temporary, path)
  })
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

/**
 * Removes the old file's log first, because it would be applied to the new file. A folder at the
 * path of the file goes to quarantine: nothing in it is deleted.
 */
async function replacePublished(temporary: string, target: string, runId: string): Promise<void> {
  await rm(`${target}.wal`, { recursive: true, force: true })
  const found = await orIfMissing(lstat(target), undefined)
  if (found?.isDirectory() === true) {
    const name = `${basename(target)}-${pathSegment(runId)}`
    await moveAside(target, join(dirname(target), 'quarantine', name))
  }
  await commitFile(temporary, target)
}

/** Puts the same content under another name, without copying bytes if the file system allows it. */
async function share(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw error
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}
