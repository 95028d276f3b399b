import { constants } from 'node:fs'
import { copyFile, mkdir, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { diskFault } from '../../lib/disk.ts'
import type { Database } from '../../lib/duckdb.ts'
import { asError, messageOf, UsageError } from '../../lib/errors.ts'
import {
  makeReadOnly,
  makeWritable,
  readJson,
  removeFile,
  sha256OfFile,
  temporaryPath,
  writeAtomic,
} from '../../lib/files.ts'
import {
  inspectPublished,
  compareDigest,
  verifyPublished,
  type PublishedRecord,
  type Verdict,
} from '../../lake/published.ts'
import {
  adoptSnapshots,
  findLacking,
  lostHistory,
  unreadableHistory,
  type Lack,
} from '../engines/snapshots.ts'
import { sparkVersion } from '../engines/spark.ts'
import type { ModelNode } from '../project/types.ts'
import { emptyState, readPublishedState, type PublishedState } from '../shared/meta.ts'
import {
  isPartial,
  type BuildOptions,
  type RunningBuild,
  type SparkSettings,
} from '../shared/context.ts'

/** The published warehouse that a build continues from, and its content. */
export interface PreviousWarehouse {
  /** A copy that the build may change; null if it builds from scratch. */
  readonly path: string | null
  readonly state: PublishedState
  /** The record of the published file; null if there is none, or if the file was changed. */
  readonly published: PublishedRecord | null
}

/**
 * Copies the file that the build continues from, and verifies the copy by its digest: it must be
 * the published file, or the one that a failed build left. A snapshot without a version takes its
 * history from the published file, changed or not.
 *
 * @throws UsageError if a failed build cannot be retried; AppError if the disk has no room for the
 *   copy, or if the published file holds the only history of a snapshot and cannot be read.
 */
export async function openPrevious(
  build: RunningBuild,
  snapshots: readonly ModelNode[],
): Promise<PreviousWarehouse> {
  const { target, fullRefresh, retry, warn, spark } = build
  const engine = (db: Database): Promise<string> => engineOf(db, spark)
  const lacking = await findLacking(build, snapshots)
  // a verdict that needs no digest: absent, or visibly changed
  const early = await inspectPublished(target)
  const mayContinue = early === undefined && !retry && (isPartial(build) || !fullRefresh)
  const isCopied = mayContinue || (lacking.size > 0 && early?.state !== 'absent')
  const copied = isCopied ? await makeWorkingCopy(target, target).catch(asError) : undefined
  const fault = copied instanceof Error ? diskFault(copied) : undefined
  if (fault !== undefined) throw fault // the reason does not concern the published file
  let path: string | null = null
  try {
    const verdict = early ?? (await verdictOn(copied, target))
    if (verdict.state === 'changed' && !isPartial(build))
      warn(changedMessage(target, verdict.reason))
    const published = verdict.state === 'published' ? verdict.record : null
    if (verdict.state !== 'absent') await adoptHistories(build, lacking, copied, published !== null)
    if (retry) {
      const failed = await openFailed(build.failedFile, target)
      return { path: failed, state: await readPublishedState(failed, engine), published }
    }
    if (!mayContinue || published === null || !isFile(copied)) {
      return { path, state: emptyState(reasonOf(verdict)), published }
    }
    const state = await readPublishedState(copied.path, engine)
    if (state.problem === null) path = copied.path
    else warn(changedMessage(target, state.problem))
    return { path, state, published }
  } finally {
    if (path === null && isFile(copied)) await removeFile(copied.path)
  }
}

/** The published file itself, without a copy: to plan a build, not to run it. */
export async function readPrevious({ target, spark }: BuildOptions): Promise<PreviousWarehouse> {
  const verdict = await verifyPublished(target)
  const isPublished = verdict.state === 'published'
  const state = isPublished
    ? await readPublishedState(target, (db) => engineOf(db, spark))
    : emptyState(reasonOf(verdict))
  return { path: null, state, published: isPublished ? verdict.record : null }
}

/** Why the file is not the one that was published; null if it is, or if there is none. */
function reasonOf(verdict: Verdict): string | null {
  return verdict.state === 'changed' ? verdict.reason : null
}

type CopiedFile = Awaited<ReturnType<typeof makeWorkingCopy>>
type Copied = CopiedFile | Error | undefined

function isFile(copied: Copied): copied is CopiedFile {
  return copied !== undefined && !(copied instanceof Error)
}

function verdictOn(copied: Copied, target: string): Promise<Verdict> {
  if (isFile(copied)) return compareDigest(target, target, copied.sha256)
  if (copied === undefined) return verifyPublished(target)
  return Promise.resolve({ state: 'changed', reason: `it cannot be read: ${messageOf(copied)}` })
}

/**
 * Takes the histories that snapshots lack from the copy. If the file was changed, takes only
 * histories without a version; from a file that was built with `--as-of`, none.
 *
 * @throws AppError if there is no other source for a history that had versions.
 */
async function adoptHistories(
  build: RunningBuild,
  lacking: ReadonlyMap<ModelNode, Lack>,
  copied: Copied,
  isVerified: boolean,
): Promise<void> {
  const all = [...lacking].filter(([, why]) => isVerified || why !== 'damaged')
  const nodes = all.map(([node]) => node)
  if (nodes.length === 0) return
  if (!isFile(copied)) throw unreadableHistory(nodes, copied?.message ?? 'it is not a file')
  if (await adoptSnapshots(build, copied.path, nodes)) return
  const lost = nodes.filter((node) => lacking.get(node) === 'lost')
  if (lost.length > 0) throw lostHistory(lost)
}

function changedMessage(target: string, reason: string): string {
  return `${target} is not the file that was published: ${reason}; everything is built again from base`
}

/**
 * Copies the file that a build continues from, next to the published one, and computes the digest
 * of the copy: the build continues from exactly the verified bytes. A program that has the file
 * open can neither change the copy nor prevent reading it.
 *
 * @throws the system's error if the copy fails.
 */
async function makeWorkingCopy(from: string, target: string) {
  const path = temporaryPath(target)
  try {
    await copyFile(from, path, constants.COPYFILE_FICLONE)
    await makeWritable(path)
    return { path, sha256: await sha256OfFile(path) }
  } catch (error) {
    await removeFile(path)
    throw error
  }
}

const failedRecord = z.object({ run_id: z.string(), sources: z.string(), sha256: z.string() })

/**
 * Records the temporary file and keeps it as the failed file, the only one, and returns its path;
 * undefined if it is not kept. If that fails, it only warns, because the problems of the build come
 * first.
 */
export async function keepFailed(
  temporary: string,
  { failedFile, runId, emit }: Pick<BuildOptions, 'failedFile' | 'runId' | 'emit'>,
): Promise<string | undefined> {
  if (failedFile === undefined) return undefined
  const { path, sources } = failedFile
  try {
    await forgetFailed(failedFile)
    await mkdir(dirname(path), { recursive: true })
    await makeReadOnly(temporary)
    const record = { run_id: runId, sources, sha256: await sha256OfFile(temporary) }
    await writeAtomic(recordOf(failedFile), `${JSON.stringify(record)}\n`)
    await rename(temporary, path)
    return path
  } catch (error) {
    const message = `the failed file could not be kept: ${messageOf(error)}`
    emit({ type: 'warning', message })
    return undefined
  }
}

/** Removes the failed file and its record, as after a published build. */
export async function forgetFailed(failedFile: BuildOptions['failedFile']): Promise<void> {
  if (failedFile === undefined) return
  await removeFile(failedFile.path)
  await removeFile(recordOf(failedFile))
}

/**
 * The path of a copy of the failed run's file to continue from.
 *
 * @throws UsageError if there is none, if the sources have changed since, or if the file is not the
 *   one of the run.
 */
async function openFailed(failedFile: BuildOptions['failedFile'], target: string): Promise<string> {
  const path = failedFile?.path ?? ''
  const found = failedFile && (await readJson(recordOf(failedFile), () => undefined))
  const { data: record } = failedRecord.safeParse(found)
  if (record === undefined) throw refusal('no build has failed')
  const { run_id: runId } = record
  if (record.sources !== failedFile?.sources) {
    throw refusal(
      `other days have landed or were requested since run ${runId} failed, or it was a build with --as-of`,
    )
  }
  const copied = await makeWorkingCopy(path, target).catch((error: unknown) => {
    throw refusal(`${path} cannot be read: ${messageOf(error)}`)
  })
  if (copied.sha256 === record.sha256) return copied.path
  throw refusal(
    `${path} is not the file that run ${runId} left: its SHA-256 is not the recorded one`,
  )
}

function refusal(problem: string): UsageError {
  return new UsageError(`--retry: ${problem}`, {
    hint: 'Build everything: agent-warehouse build.',
  })
}

function recordOf({ path }: { readonly path: string }): string {
  return `${path}.json`
}

/**
 * The oldest storage format that supports the models: DuckDB 1.0.0 and later open
 * the published file.
 */
export const STORAGE_VERSION = 'v1.0.0'

/**
 * The versions of Spark (if it builds the models), of DuckDB and of the storage format. Another
 * version may compute or write different tables.
 */
export async function engineOf(db: Database, spark?: SparkSettings): Promise<string> {
  const { rows } = await db.table('select version()')
  const own = `DuckDB ${z.string().parse(rows[0]?.[0])}, storage ${STORAGE_VERSION}`
  return spark === undefined ? own : `Spark ${await sparkVersion(spark)}, ${own}`
}
