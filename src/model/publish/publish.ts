import { Database } from '../../lib/duckdb.ts'
import { removeFile, syncFile } from '../../lib/files.ts'
import { publishFile } from '../../lake/published.ts'
import type { BaseFile } from '../build/base-file.ts'
import type { Building } from '../build/context.ts'
import type { Contents } from './contents.ts'

/**
 * Puts the file at `temporary` in place of the published one, and returns its size. Where that
 * holds all that the new one does, it stays: null.
 */
export async function publish(
  temporary: string,
  contents: Contents,
  building: Building,
  baseFile: BaseFile,
): Promise<number | null> {
  const { target, runId, asOf = null, keep = 0, warn, now, emit, signal } = building
  try {
    if (await isPublished(temporary, contents, building, baseFile)) {
      await removeDatabase(temporary)
      emit({ type: 'warehouse.unchanged', path: target })
      return null
    }
    await openOnce(temporary)
    await syncFile(temporary)
    const bytes = await publishFile(temporary, {
      target,
      runId,
      builtAt: new Date(now()).toISOString(),
      asOf: asOf === null ? null : new Date(asOf).toISOString(),
      ...contents,
      present: baseFile.published,
      keep,
      warn,
    })
    emit({ type: 'warehouse.published', path: target, bytes })
    return bytes
  } catch (error) {
    await removeDatabase(temporary)
    signal?.throwIfAborted()
    throw error
  }
}

/**
 * Whether the published file holds all that the new one does, and can be read: not while
 * another program has it open for writing.
 */
async function isPublished(
  temporary: string,
  { content, meta }: Contents,
  { fullRefresh = false, target }: Building,
  { published, path }: BaseFile,
): Promise<boolean> {
  if (path !== temporary || fullRefresh) return false
  if (published?.content !== content || published.meta !== meta) return false
  return openOnce(target).then(
    () => true,
    () => false,
  )
}

/** What cannot be opened from the start as readers will open it is not published. */
async function openOnce(path: string): Promise<void> {
  await using db = await Database.open(path, { readOnly: true })
  await db.rows('select count(*) from meta.columns')
}

/** Removes a DuckDB file that is not published, and its log. */
export async function removeDatabase(path: string): Promise<void> {
  await removeFile(path)
  await removeFile(`${path}.wal`)
}
