import { dirname } from 'node:path'
import { asError, messageOf, UsageError } from '../../lib/errors.ts'
import { diskFault } from '../../lib/disk.ts'
import {
  inspectPublished,
  judge,
  verifyPublished,
  type PublishedRecord,
  type Verdict,
} from '../../lake/published-record.ts'
import { removeFile } from '../../lib/files.ts'
import { WorkingCopy, type CopiedFile } from './working-copy.ts'
import { EVERYTHING, runToRetry, type FailedFile } from './failed-build.ts'
import { emptyState, readPublishedState, type PublishedState } from './published-state.ts'
import { adoptSnapshots, findLacking, historyLost, type SnapshotPlace } from './snapshots.ts'
import type { ModelNode } from '../project/types.ts'

export interface BaseFileOptions extends Omit<SnapshotPlace, 'dataFolder'> {
  /** The published file. */
  readonly target: string
  /** A copy of it that was begun before. */
  readonly copy?: WorkingCopy
  readonly retry?: boolean
  readonly failedFile?: FailedFile
  readonly fullRefresh?: boolean
  readonly artifacts?: { readonly folder: string }
  /** Whether only some models are built. */
  readonly isPartial: boolean
  readonly snapshots: readonly ModelNode[]
}

/** The file that a build continues from, and what it holds. */
export interface BaseFile {
  /** A copy, which belongs to the build; null where nothing is continued from. */
  readonly path: string | null
  readonly state: PublishedState
  /** The published file as recorded; null where it is not what was published, or there is none. */
  readonly published: PublishedRecord | null
  /** The run whose file failed and is continued from. */
  readonly retryOf?: string
}

/**
 * Copies what the build continues from, and verifies the copy by its digest: a file
 * that is not what was published, or not what a failed build left, is not continued from.
 * A snapshot without a version takes its history from the published file, changed or not.
 *
 * @throws UsageError where a failed build is to be retried, and its file cannot be;
 * AppError where the disk has no room for the copy, and where the published file holds
 * the only history of a snapshot and cannot be read.
 */
export async function openBaseFile(options: BaseFileOptions): Promise<BaseFile> {
  const { target, fullRefresh = false, isPartial, retry = false, warn } = options
  const place = { ...options, dataFolder: dirname(target) }
  const lacking = await findLacking(place, options.snapshots)
  const seen = await inspectPublished(target)
  const isContinued = seen === undefined && !retry && (isPartial || !fullRefresh)
  const isCopied = isContinued || (lacking.size > 0 && seen?.state !== 'absent')
  const own = options.copy ?? new WorkingCopy(target, target)
  if (!isCopied) await own.discard() // a disk has to hold two files, not three
  const copied = isCopied ? await own.take().catch(asError) : undefined
  const fault = copied instanceof Error ? diskFault(copied) : undefined
  if (fault !== undefined) throw fault // it says nothing of the published file
  try {
    const verdict = seen ?? (await verdictOn(copied, target))
    if (verdict.state === 'changed' && !isPartial) warn(changed(target, verdict.reason))
    const published = verdict.state === 'published' ? verdict.record : null
    if (verdict.state !== 'absent') await adopt(place, lacking, copied, published !== null)
    if (retry) return { ...(await openFailed(options)), published }
    const problem = verdict.state === 'changed' ? verdict.reason : null
    const path = isContinued && published !== null && isFile(copied) ? copied.path : null
    const state = path === null ? emptyState(problem) : await readPublishedState(path)
    if (path !== null && state.problem === null) return { path, state, published }
    if (path !== null) warn(changed(target, state.problem ?? ''))
    await remove(copied)
    return { path: null, state, published }
  } catch (error) {
    await remove(copied)
    throw error
  }
}

/** The published file as it is, without a copy: to plan, not to build. */
export async function readBaseFile(target: string): Promise<BaseFile> {
  const verdict = (await inspectPublished(target)) ?? (await verifyPublished(target))
  if (verdict.state === 'published')
    return { path: null, state: await readPublishedState(target), published: verdict.record }
  const problem = verdict.state === 'changed' ? verdict.reason : null
  return { path: null, state: emptyState(problem), published: null }
}

type Copied = CopiedFile | Error | undefined

function isFile(copied: Copied): copied is CopiedFile {
  return copied !== undefined && !(copied instanceof Error)
}

async function remove(copied: Copied): Promise<void> {
  if (isFile(copied)) await removeFile(copied.path)
}

function verdictOn(copied: Copied, target: string): Promise<Verdict> {
  if (isFile(copied)) return judge(target, target, copied.sha256)
  if (copied === undefined) return verifyPublished(target)
  return Promise.resolve({ state: 'changed', reason: `it cannot be read: ${messageOf(copied)}` })
}

/** A file that is not what was published answers for snapshots that have no version at all. */
async function adopt(
  place: SnapshotPlace,
  lacking: ReadonlyMap<ModelNode, 'missing' | 'damaged'>,
  copied: Copied,
  isVerified: boolean,
): Promise<void> {
  const all = [...lacking].filter(([, why]) => isVerified || why === 'missing')
  const nodes = all.map(([node]) => node)
  if (nodes.length === 0) return
  if (!isFile(copied)) throw historyLost(nodes, copied?.message ?? 'it is not a file')
  await adoptSnapshots(place, copied.path, nodes)
}

async function openFailed({ target, failedFile, artifacts }: BaseFileOptions) {
  const { runId, sha256 } = await runToRetry(failedFile, artifacts?.folder)
  const path = failedFile?.path ?? ''
  const copied = await new WorkingCopy(path, target).take().catch((error: unknown) => {
    throw refusal(`${path} cannot be read: ${messageOf(error)}`)
  })
  if (copied.sha256 === sha256) {
    return { path: copied.path, state: await readPublishedState(copied.path), retryOf: runId }
  }
  await removeFile(copied.path)
  throw refusal(`${path} is not what run ${runId} left: its SHA-256 is not the recorded one`)
}

function refusal(problem: string): UsageError {
  return new UsageError(`--retry: ${problem}`, EVERYTHING)
}

function changed(target: string, reason: string): string {
  return `${target} is not the file that was published: ${reason}; everything is built again from base`
}
