import { UsageError } from '../core/errors.ts'
import { warehousePath } from '../store/lake.ts'
import {
  keepPublished,
  keptFiles,
  putBack,
  readRollback,
  writeRollback,
  type KeptFile,
  type Rollback,
} from '../store/published.ts'
import { openWarehouse, publishedBuild } from './warehouse.ts'

/** A file that is published, or was. */
export interface PublishedFile extends KeptFile {
  /** When it was built, ISO 8601, UTC; null: the file cannot be read. */
  readonly builtAt: string | null
  readonly isPublished: boolean
}

/** The kept files, the oldest first. */
export async function listPublished(dataFolder: string): Promise<PublishedFile[]> {
  const present = await publishedBuild(warehousePath(dataFolder))
  const files = await keptFiles(dataFolder)
  return Promise.all(
    files.map(async (file) => ({
      ...file,
      builtAt: (await publishedBuild(file.path))?.builtAt ?? null,
      isPublished: file.runId === present?.runId,
    })),
  )
}

/** The rollback whose file is published now; null where the last build's is. */
export async function rollbackInForce(dataFolder: string): Promise<Rollback | null> {
  const last = await readRollback(dataFolder)
  if (last === undefined) return null
  const present = await publishedBuild(warehousePath(dataFolder))
  return present?.runId === last.to ? last : null
}

/**
 * For work that is about the present.
 * @throws UsageError, beginning with `what`, when the warehouse holds what was known or built earlier.
 */
export async function refusePast(dataFolder: string, what: string): Promise<void> {
  const asOf = (await publishedBuild(warehousePath(dataFolder)))?.asOf ?? null
  const rolledBack = await rollbackInForce(dataFolder)
  if (asOf === null && rolledBack === null) return
  const holds =
    asOf === null
      ? `was rolled back to run ${rolledBack?.to ?? ''}`
      : `holds what was known at ${asOf}`
  throw new UsageError(`${what}: the published warehouse ${holds}`, {
    hint: 'Bring the present back first: agent-warehouse build.',
  })
}

export interface RollbackOptions {
  readonly dataFolder: string
  /** The run that goes back. */
  readonly runId: string
  readonly now: () => number
  /** The run whose file is to be published, or how its id begins. Default: the one before. */
  readonly to?: string
}

/**
 * Publishes a file that was published before; the one in its place is kept,
 * so that the way leads forward again. The caller holds the lock.
 *
 * @throws UsageError when there is no such file, or it cannot be read: nothing is changed then.
 */
export async function rollBack(options: RollbackOptions): Promise<Rollback> {
  const { dataFolder, runId, now } = options
  const present = await publishedBuild(warehousePath(dataFolder))
  const files = await keptFiles(dataFolder)
  const file =
    options.to === undefined
      ? theOneBefore(files, present?.runId ?? null)
      : theNamed(files, options.to)
  if (file.runId === present?.runId) {
    throw new UsageError(`the file of run ${file.runId} is the published one`, LIST)
  }
  ;(await openWarehouse(file.path)).close()
  const isKept = present !== null && present.asOf === null
  if (isKept) await keepPublished(dataFolder, present.runId)
  const at = new Date(now()).toISOString()
  const rollback = { runId, at, from: present?.runId ?? null, to: file.runId }
  await writeRollback(dataFolder, rollback)
  await putBack(dataFolder, file)
  return rollback
}

const LIST = { hint: 'agent-warehouse rollback --list shows what is kept.' }

/** The last that was built before the present one; where that is not known, the last. */
function theOneBefore(files: readonly KeptFile[], present: string | null): KeptFile {
  const file = files.findLast(({ runId }) => present === null || runId < present)
  if (file !== undefined) return file
  throw new UsageError('there is no earlier published warehouse to go back to', {
    hint:
      files.length === 0
        ? 'A build keeps the file that it replaces; keep_published says how many are kept.'
        : LIST.hint,
  })
}

function theNamed(files: readonly KeptFile[], name: string): KeptFile {
  const found = files.filter(({ runId }) => name !== '' && runId.startsWith(name))
  const [file] = found
  if (file !== undefined && found.length === 1) return file
  const problem =
    file === undefined
      ? `no published file of a run '${name}' is kept`
      : `the ids of ${found.length} kept runs begin with '${name}'`
  const known = files.map(({ runId }) => runId).join(', ')
  throw new UsageError(`--to: ${problem}`, {
    hint: known === '' ? 'None is kept.' : `Kept: ${known}.`,
  })
}
