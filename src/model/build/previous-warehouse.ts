import type { Database } from '../../lib/duckdb.ts'
import { engineOf } from '../engines/duckdb.ts'
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
import { isPartial, type RunningBuild, type BuildOptions } from '../shared/context.ts'
import { emptyState, readPublishedState, type PublishedState } from '../publish/meta.ts'
import { adoptSnapshots, findLacking, unreadableHistory } from '../engines/snapshots.ts'
import type { ModelNode } from '../project/types.ts'
import { openFailed } from './failed-file.ts'
import { makeWorkingCopy, type CopiedFile } from './working-copy.ts'

/** The published warehouse that a build continues from, and its content. */
export interface PreviousWarehouse {
  /** A copy that the build may change; null if it builds from scratch. */
  readonly path: string | null
  readonly state: PublishedState
  /** The record of the published file; null if there is none, or if the file was changed. */
  readonly published: PublishedRecord | null
  /** The failed run whose file the build continues. */
  readonly retryOf?: string
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
  const seen = await inspectPublished(target)
  const mayContinue = seen === undefined && !retry && (isPartial(build) || !fullRefresh)
  const isCopied = mayContinue || (lacking.size > 0 && seen?.state !== 'absent')
  const copied = isCopied ? await makeWorkingCopy(target, target).catch(asError) : undefined
  const fault = copied instanceof Error ? diskFault(copied) : undefined
  if (fault !== undefined) throw fault // the reason does not concern the published file
  let path: string | null = null
  try {
    const verdict = seen ?? (await verdictOn(copied, target))
    if (verdict.state === 'changed' && !isPartial(build)) warn(changed(target, verdict.reason))
    const published = verdict.state === 'published' ? verdict.record : null
    if (verdict.state !== 'absent') await adopt(build, lacking, copied, published !== null)
    if (retry) {
      const failed = await openFailed(build, target)
      const state = await readPublishedState(failed.path, engine)
      return { path: failed.path, state, published, retryOf: failed.runId }
    }
    if (!mayContinue || published === null || !isFile(copied)) {
      return { path, state: emptyState(reasonOf(verdict)), published }
    }
    const state = await readPublishedState(copied.path, engine)
    if (state.problem === null) path = copied.path
    else warn(changed(target, state.problem))
    return { path, state, published }
  } finally {
    if (path === null && isFile(copied)) await removeFile(copied.path)
  }
}

/** The published file itself, without a copy: to plan a build, not to run it. */
export async function readPrevious({ target, spark }: BuildOptions): Promise<PreviousWarehouse> {
  const verdict = (await inspectPublished(target)) ?? (await verifyPublished(target))
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

type Copied = CopiedFile | Error | undefined

function isFile(copied: Copied): copied is CopiedFile {
  return copied !== undefined && !(copied instanceof Error)
}

function verdictOn(copied: Copied, target: string): Promise<Verdict> {
  if (isFile(copied)) return judge(target, target, copied.sha256)
  if (copied === undefined) return verifyPublished(target)
  return Promise.resolve({ state: 'changed', reason: `it cannot be read: ${messageOf(copied)}` })
}

/**
 * Takes the histories that snapshots lack from the copy. If the file was changed, takes only
 * histories without a version.
 */
async function adopt(
  build: RunningBuild,
  lacking: ReadonlyMap<ModelNode, 'missing' | 'damaged'>,
  copied: Copied,
  isVerified: boolean,
): Promise<void> {
  const all = [...lacking].filter(([, why]) => isVerified || why === 'missing')
  const nodes = all.map(([node]) => node)
  if (nodes.length === 0) return
  if (!isFile(copied)) throw unreadableHistory(nodes, copied?.message ?? 'it is not a file')
  await adoptSnapshots(build, copied.path, nodes)
}

function changed(target: string, reason: string): string {
  return `${target} is not the file that was published: ${reason}; everything is built again from base`
}
