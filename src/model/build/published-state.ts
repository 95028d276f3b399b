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
import { Copy, type CopiedFile } from './working-copy.ts'
import { EVERYTHING, runToRetry, type FailedFile } from './failed-build.ts'
import { nothing, readHeld, type Held } from './held.ts'
import { adoptSnapshots, findLacking, historyLost, type SnapshotPlace } from './snapshots.ts'
import type { ModelNode } from '../project/types.ts'

export interface ContinueOptions extends Omit<SnapshotPlace, 'dataFolder'> {
  /** The published file. */
  readonly target: string
  /** A copy of it that was begun before. */
  readonly copy?: Copy
  readonly retry?: boolean
  readonly failedFile?: FailedFile
  readonly fullRefresh?: boolean
  readonly artifacts?: { readonly folder: string }
  /** Whether only some models are built. */
  readonly isPart: boolean
  readonly snapshots: readonly ModelNode[]
}

/** What a build continues from. */
export interface Upon {
  /** A copy, which belongs to the build; null where nothing is continued from. */
  readonly path: string | null
  readonly held: Held
  /** The published file as recorded; null where it is not what was published, or there is none. */
  readonly present: PublishedRecord | null
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
export async function openUpon(options: ContinueOptions): Promise<Upon> {
  const { target, fullRefresh = false, isPart, retry = false, warn } = options
  const place = { ...options, dataFolder: dirname(target) }
  const lacking = await findLacking(place, options.snapshots)
  const seen = await inspectPublished(target)
  const isContinued = seen === undefined && !retry && (isPart || !fullRefresh)
  const isCopied = isContinued || (lacking.size > 0 && seen?.state !== 'absent')
  const own = options.copy ?? new Copy(target, target)
  if (!isCopied) await own.discard() // a disk has to hold two files, not three
  const copied = isCopied ? await own.take().catch(asError) : undefined
  const fault = copied instanceof Error ? diskFault(copied) : undefined
  if (fault !== undefined) throw fault // it says nothing of the published file
  try {
    const verdict = seen ?? (await verdictOn(copied, target))
    if (verdict.state === 'changed' && !isPart) warn(changed(target, verdict.reason))
    const present = verdict.state === 'published' ? verdict.record : null
    if (verdict.state !== 'absent') await adopt(place, lacking, copied, present !== null)
    if (retry) return { ...(await openFailed(options)), present }
    const problem = verdict.state === 'changed' ? verdict.reason : null
    const path = isContinued && present !== null && isFile(copied) ? copied.path : null
    const held = path === null ? nothing(problem) : await readHeld(path)
    if (path !== null && held.problem === null) return { path, held, present }
    if (path !== null) warn(changed(target, held.problem ?? ''))
    await remove(copied)
    return { path: null, held, present }
  } catch (error) {
    await remove(copied)
    throw error
  }
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

async function openFailed({ target, failedFile, artifacts }: ContinueOptions) {
  const { runId, sha256 } = await runToRetry(failedFile, artifacts?.folder)
  const path = failedFile?.path ?? ''
  const copied = await new Copy(path, target).take().catch((error: unknown) => {
    throw refusal(`${path} cannot be read: ${messageOf(error)}`)
  })
  if (copied.sha256 === sha256) {
    return { path: copied.path, held: await readHeld(copied.path), retryOf: runId }
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
