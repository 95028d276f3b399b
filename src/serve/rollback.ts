import { UsageError } from '../lib/errors.ts'
import { warehousePath } from '../lake/layout.ts'
import {
  readRecords,
  recordByTime,
  verifyPublished,
  type PublishedRecord,
  readRollback,
  writeRollback,
  type Rollback,
  inOrder,
  keepPublished,
  keptFiles,
  putBack,
  type KeptFile,
} from '../lake/published.ts'
import { openWarehouse, publishedBuild, type PublishedBuild } from './warehouse.ts'

export type PublishedFile = Readonly<Awaited<ReturnType<typeof listPublished>>[number]>

/** The published file and the kept ones, in the order of their publication. */
export async function listPublished(dataFolder: string) {
  const target = warehousePath(dataFolder)
  const records = await readRecords(target)
  const present = (await recordByTime(target)) ?? (await recordByContent(target))
  const earlier = (await keptFiles(target)).map((file) => {
    const record = records.find(({ runId }) => runId === file.runId)
    return {
      ...file,
      /** When it was built, ISO 8601, UTC; null without a record. */
      builtAt: record?.builtAt ?? null,
      isPublished: file.runId === present?.runId,
      /** Why it cannot be published again, judged by its size; null if it can. */
      problem: problemOf(file, record),
    }
  })
  if (present === undefined || earlier.some(({ isPublished }) => isPublished)) return earlier
  const { runId, bytes, builtAt } = present
  const published = { runId, path: target, bytes, builtAt, isPublished: true, problem: null }
  return inOrder(
    [...earlier, published],
    records.map((record) => record.runId),
  )
}

/** The record of the published file after its time changed, as when it was restored. */
async function recordByContent(target: string): Promise<PublishedRecord | undefined> {
  const verdict = await verifyPublished(target)
  return verdict.state === 'published' ? verdict.record : undefined
}

function problemOf({ bytes }: KeptFile, record: PublishedRecord | undefined): string | null {
  if (record === undefined) return 'it is not on record'
  return record.bytes === bytes
    ? null
    : `it has ${bytes} bytes, but the published file had ${record.bytes}`
}

/** The build of the published file: as recorded, or else as the file says. */
export async function presentBuild(dataFolder: string): Promise<PublishedBuild | null> {
  const target = warehousePath(dataFolder)
  return (await recordByTime(target)) ?? publishedBuild(target)
}

/** The rollback whose file is published; null if the file of the last build is. */
export async function rollbackInForce(dataFolder: string): Promise<Rollback | null> {
  const last = await readRollback(dataFolder)
  if (last === undefined) return null
  const present = await presentBuild(dataFolder)
  return present?.runId === last.to ? last : null
}

/**
 * Call this before work on the latest data.
 * @throws UsageError, beginning with `what`, if the warehouse has an earlier state.
 */
export async function refusePast(dataFolder: string, what: string): Promise<void> {
  const asOf = (await presentBuild(dataFolder))?.asOf ?? null
  const rolledBack = await rollbackInForce(dataFolder)
  if (asOf === null && rolledBack === null) return
  const rolled = `was rolled back to run ${rolledBack?.to ?? ''}`
  const holds = asOf === null ? rolled : `was built with --as-of ${asOf}`
  throw new UsageError(`${what}: the published warehouse ${holds}`, {
    hint: 'Return to the latest data first: agent-warehouse build.',
  })
}

interface RollbackOptions {
  readonly dataFolder: string
  /** The run that makes the rollback. */
  readonly runId: string
  readonly now: () => number
  /** The id, or its beginning, of the run whose file is published; undefined: the one before. */
  readonly to: string | undefined
}

/**
 * Publishes an earlier file. The current one is kept, if it is unchanged, so that it can be
 * published again. Snapshots are not rolled back: the next build continues their history.
 * The caller holds the lock.
 *
 * @throws UsageError if there is no such file, or it was changed; then nothing is changed.
 */
export async function rollBack(options: RollbackOptions): Promise<Rollback> {
  const { dataFolder, runId, now, to } = options
  const target = warehousePath(dataFolder)
  const present = await recordByContent(target)
  const files = await keptFiles(target)
  const records = await readRecords(target)
  const at = records.findIndex(({ runId }) => runId === present?.runId)
  const earlier = at < 0 ? records : records.slice(0, at)
  const file = to === undefined ? theLast(files, earlier) : theNamed(files, to)
  if (file.runId === present?.runId) {
    throw new UsageError(`the file of run ${file.runId} is the published one`, LIST)
  }
  const record = await verifyEarlier(target, file)
  if (typeof record === 'string') throw new UsageError(record, LIST)
  ;(await openWarehouse(file.path)).close()
  if (present?.asOf === null) await keepPublished(target, present.runId)
  const rollback = {
    runId,
    at: new Date(now()).toISOString(),
    from: present?.runId ?? null,
    to: file.runId,
  }
  await writeRollback(dataFolder, rollback)
  await putBack(target, record)
  return rollback
}

/** The record of an earlier file, or a message if it is not the file that its run published. */
export async function verifyEarlier(
  target: string,
  { path, runId }: KeptFile,
): Promise<PublishedRecord | string> {
  const verdict = await verifyPublished(target, path)
  if (verdict.state === 'published' && verdict.record.runId === runId) return verdict.record
  const reason = verdict.state === 'changed' ? verdict.reason : 'another run published it'
  return `${path} is not the file that run ${runId} published: ${reason}`
}

const LIST = { hint: 'agent-warehouse rollback --list shows what is kept.' }

/** The last file of these records. */
function theLast(files: readonly KeptFile[], records: readonly PublishedRecord[]): KeptFile {
  const file = files.findLast(({ runId }) => records.some((record) => record.runId === runId))
  if (file !== undefined) return file
  throw new UsageError('there is no earlier published warehouse to go back to', {
    hint:
      files.length === 0
        ? 'A build keeps the file that it replaces; keep_published sets how many are kept.'
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
