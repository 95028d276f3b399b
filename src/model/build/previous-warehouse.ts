import { asError, messageOf } from '../../lib/errors.ts'
import { diskFault } from '../../lib/disk.ts'
import {
  inspectPublished,
  judge,
  verifyPublished,
  type PublishedRecord,
  type Verdict,
} from '../../lake/published-record.ts'
import { removeFile } from '../../lib/files.ts'
import { makeWorkingCopy, type CopiedFile } from './working-copy.ts'
import { isPartial, type Building, type BuildOptions } from './context.ts'
import { openFailed } from './failed-build.ts'
import { emptyState, readPublishedState, type PublishedState } from '../publish/meta.ts'
import { adoptSnapshots, findLacking, unreadableHistory } from '../engines/snapshots.ts'
import type { ModelNode } from '../project/types.ts'

/** The published warehouse that a build continues from, and what it holds. */
export interface PreviousWarehouse {
  /** A copy that belongs to the build; null if it builds from scratch. */
  readonly path: string | null
  readonly state: PublishedState
  /** The record of the published file; null if there is none, or if the file was changed. */
  readonly published: PublishedRecord | null
  /** The failed run whose file the build continues. */
  readonly retryOf?: string
}

/**
 * Copies the file that the build continues, and verifies the copy by its digest: a file that is
 * neither the published one nor the one that a failed build left is not continued.
 * A snapshot without a version takes its history from the published file, changed or not.
 *
 * @throws UsageError where a failed build is to be retried, and its file cannot be;
 * AppError where the disk has no room for the copy, and where the published file holds
 * the only history of a snapshot and cannot be read.
 */
export async function openPrevious(
  building: Building,
  snapshots: readonly ModelNode[],
): Promise<PreviousWarehouse> {
  const { target, fullRefresh, retry, warn } = building
  const lacking = await findLacking(building, snapshots)
  const seen = await inspectPublished(target)
  const isContinued = seen === undefined && !retry && (isPartial(building) || !fullRefresh)
  const isCopied = isContinued || (lacking.size > 0 && seen?.state !== 'absent')
  const copied = isCopied ? await makeWorkingCopy(target, target).catch(asError) : undefined
  const fault = copied instanceof Error ? diskFault(copied) : undefined
  if (fault !== undefined) throw fault // it says nothing of the published file
  let path: string | null = null
  try {
    const verdict = seen ?? (await verdictOn(copied, target))
    if (verdict.state === 'changed' && !isPartial(building)) warn(changed(target, verdict.reason))
    const published = verdict.state === 'published' ? verdict.record : null
    if (verdict.state !== 'absent') await adopt(building, lacking, copied, published !== null)
    if (retry) {
      const failed = await openFailed(building, target)
      const state = await readPublishedState(failed.path, building.spark)
      return { path: failed.path, state, published, retryOf: failed.runId }
    }
    if (!isContinued || published === null || !isFile(copied)) {
      return { path, state: emptyState(reasonOf(verdict)), published }
    }
    const state = await readPublishedState(copied.path, building.spark)
    if (state.problem === null) path = copied.path
    else warn(changed(target, state.problem))
    return { path, state, published }
  } finally {
    if (path === null && isFile(copied)) await removeFile(copied.path)
  }
}

/** The published file as it is, without a copy: to plan, not to build. */
export async function readPrevious({ target, spark }: BuildOptions): Promise<PreviousWarehouse> {
  const verdict = (await inspectPublished(target)) ?? (await verifyPublished(target))
  const isPublished = verdict.state === 'published'
  const state = isPublished
    ? await readPublishedState(target, spark)
    : emptyState(reasonOf(verdict))
  return { path: null, state, published: isPublished ? verdict.record : null }
}

/** Why the file is not what was published; null where it is, and where there is none. */
function reasonOf(verdict: Verdict): string | null {
  return verdict.state === 'changed' ? verdict.reason : null
}

type Copied = CopiedFile | Error | undefined

function isFile(copied: Copied): copied is CopiedFile {
  return copied !== undefined && !(copied instanceof Error)
}

function verdictOn(copied: Copied, target: string): Promise<Verdict> {
  if (isFile(copied)) return judge(target, target, copied.sha256)
  if (copied === undefined) return verifyPublished(target)
  return Promise.resolve({ state: 'changed', reason: `it cannot be read: ${messageOf(copied)}` })
}

/** Takes the histories that snapshots lack from the copy; if it was changed, only missing ones. */
async function adopt(
  building: Building,
  lacking: ReadonlyMap<ModelNode, 'missing' | 'damaged'>,
  copied: Copied,
  isVerified: boolean,
): Promise<void> {
  const all = [...lacking].filter(([, why]) => isVerified || why === 'missing')
  const nodes = all.map(([node]) => node)
  if (nodes.length === 0) return
  if (!isFile(copied)) throw unreadableHistory(nodes, copied?.message ?? 'it is not a file')
  await adoptSnapshots(building, copied.path, nodes)
}

function changed(target: string, reason: string): string {
  return `${target} is not the file that was published: ${reason}; everything is built again from base`
}
