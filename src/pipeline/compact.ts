import { warner } from '../lib/world.ts'
import { statSync } from 'node:fs'
import { mapLimit } from '../lib/concurrency.ts'
import { Database } from '../lib/duckdb.ts'
import { asError, ExitCode } from '../lib/errors.ts'
import { processLimits } from '../lib/machine.ts'
import { ownSpillFolder } from '../lib/spill.ts'
import { quarantineDamaged } from '../extract/land/verify-versions.ts'
import { planMerges, type MergeTask, mergeFiles, rawSources } from '../lake/merge-files.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { LedgerFile } from '../lake/ledger.ts'
import { readOrganisations } from '../lake/organisations.ts'
import {
  downgradeToPartial,
  reconcileLedgers,
  timed,
  type StageResult,
  type RunContext,
} from './run-context.ts'

/** A merged file, and what it replaces. */
export interface Merged extends Pick<MergeTask, 'orgId' | 'resource' | 'month'> {
  /** How many files there were. */
  readonly files: number
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** Plans the merges of `compact`. Changes nothing, and needs no lock. */
export async function planOfMerges(dataFolder: string, now: number): Promise<MergeTask[]> {
  const tasks = await mapLimit(await organisationsInLake(dataFolder), 1, (orgId) =>
    planOf(dataFolder, orgId, now),
  )
  return tasks.flat()
}

async function planOf(dataFolder: string, orgId: string, now: number): Promise<MergeTask[]> {
  const known = [...(await readOrganisations(dataFolder)).values()]
  const { skewMs = 0 } = known.find((each) => each.orgId === orgId) ?? {}
  return planMerges(await rawSources(dataFolder, orgId), now + skewMs)
}

/** Merges the raw files of past months. Base already has one file per month. */
export async function compact(context: RunContext) {
  const { config, world } = context
  let missing = await reconcileLedgers(context)
  const merged: Merged[] = []
  await timed(context, 'compact', async () => {
    for (const orgId of await organisationsInLake(config.dataFolder)) {
      if (world.signal.aborted) break
      const done = await compactOrganisation(context, orgId)
      merged.push(...done.merged)
      missing += done.missing
    }
  })
  const outcome: StageResult = world.signal.aborted
    ? { exitCode: ExitCode.deferred, problems: [asError(world.signal.reason)] }
    : { exitCode: ExitCode.complete, problems: [] }
  return { ...downgradeToPartial(missing, outcome), merged }
}

/** The merged files of an organisation, and how many were damaged. */
async function compactOrganisation(
  context: RunContext,
  orgId: string,
): Promise<{ readonly merged: readonly Merged[]; readonly missing: number }> {
  const { config, world } = context
  const { dataFolder } = config
  const tasks = await planOf(dataFolder, orgId, world.now())
  if (tasks.length === 0) return { merged: [], missing: 0 }
  const files = tasks.flatMap(({ sources }) => sources.flatMap(({ versions }) => versions))
  const ledger = await LedgerFile.read(dataFolder, orgId)
  const warn = warner(world, 'damage')
  const damaged = await quarantineDamaged(dataFolder, orgId, files, ledger, warn)
  const whole = damaged.length === 0 ? tasks : await planOf(dataFolder, orgId, world.now())
  const { query, verification } = processLimits()
  const options = { ...verification, tempDirectory: ownSpillFolder(dataFolder) }
  await using database = await Database.open(':memory:', options)
  const merged = await mapLimit(whole, query.threads, async (task): Promise<Merged[]> => {
    if (world.signal.aborted) return []
    await using own = await database.another()
    const bytesAfter = statSync(await mergeFiles(dataFolder, own, task)).size
    const { resource, month, sources, bytes: bytesBefore } = task
    const files = sources.length
    world.emit({ type: 'lake.merged', orgId, resource, month, files, bytes: bytesAfter })
    return [{ orgId, resource, month, files, bytesBefore, bytesAfter }]
  })
  return { merged: merged.flat(), missing: damaged.length }
}
