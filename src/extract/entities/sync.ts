import { addDays, startOf } from '../../lib/days.ts'
import { ENTITY_RESOURCES, isSnapshot, type EntityResource } from '../../lib/resource-names.ts'
import { messageOf } from '../../lib/errors.ts'
import { warner } from '../../lib/world.ts'
import type { Computer } from '../../client/index.ts'
import type { LedgerFile } from '../../lake/ledger.ts'
import { abortsRun, isNotGranted } from '../fetch/failures.ts'
import { today, type EntityContext } from './context.ts'
import { fetchControls } from './controls.ts'
import { landHookEvents } from './hooks.ts'
import { LandedDays, quarantineDamagedEntities } from './missing-files.ts'
import { fetchMetrics } from './metrics.ts'
import { fetchReadiness } from './readiness.ts'
import { fetchMessages, fetchSessions } from './sessions.ts'
import { fetchComputers, fetchLimits } from './snapshots.ts'

/**
 * Lands the entity resources. One resource that is not available does not stop the others: it is recorded as failed. What this credential
 * was never given is said once, and makes no night partial.
 *
 * @throws what must stop the run (see `isFatal`).
 */
export async function syncEntities(context: EntityContext, ledger: LedgerFile): Promise<void> {
  const { dataFolder, orgId, world, selection } = context
  const warn = warner(world)
  await quarantineDamagedEntities(dataFolder, orgId, ledger, warn)
  const landed = await LandedDays.open(dataFolder, orgId, warn)
  const run: Run = { context, landed, computers: undefined }
  const fetched: EntityResource[] = []
  const withheld: string[] = []
  try {
    for (const resource of ENTITY_RESOURCES.filter((name) => selection.resources.includes(name))) {
      const outcome = await attempt(run, resource)
      if (outcome === 'fetched') fetched.push(resource)
      else if (outcome !== 'failed') withheld.push(outcome)
    }
  } finally {
    if (fetched.length > 0) await landed.fetched(fetched, ledger.intervals)
  }
  if (withheld.length > 0)
    warn(`not available of ${orgId} with this credential: ${withheld.join('; ')}`)
}

/** What one resource leaves for the next. */
interface Run {
  readonly context: EntityContext
  readonly landed: LandedDays
  /** As they were served in this run. */
  computers: readonly Computer[] | undefined
}

/** Whether the resource was fetched; for one that was never granted, why not. */
async function attempt(run: Run, resource: EntityResource): Promise<string> {
  const { context } = run
  const { recorder } = context
  try {
    const error = await fetchResource(run, resource)
    if (error === null) {
      if (!isSnapshot(resource)) await recorder.recovered(resource)
      return 'fetched'
    }
    await recorder.failed(resource, [today(context)], error)
    return 'failed'
  } catch (error) {
    const isRefused = isNotGranted(error)
    if (!isRefused && abortsRun(error)) throw error
    if (!isRefused || recorder.hasLanded(resource)) {
      await recorder.failed(resource, [today(context)], error)
      return 'failed'
    }
    await recorder.withheld(resource, today(context), error)
    return `${resource} (${messageOf(error)})`
  }
}

/** Resolves to the error of what was not available. */
async function fetchResource(run: Run, resource: EntityResource): Promise<Error | null> {
  const { context, landed } = run
  const missing = landed.missing(resource, context.recorder.intervals)
  switch (resource) {
    case 'hook_events':
      await landHookEvents(context)
      return null
    case 'enterprise_controls':
      await fetchControls(context, context.selection.refetch || missing?.length !== 0)
      return null
    case 'usage_limits':
      await fetchLimits(context)
      return null
    case 'readiness_reports':
      await fetchReadiness(context)
      return null
    case 'computers':
      run.computers = await fetchComputers(context)
      return null
    case 'computer_metrics': {
      const [first] = missing ?? []
      // the samples of a day are those since the night before
      const from = first === undefined ? undefined : startOf(addDays(first, -1))
      return fetchMetrics(context, run.computers, from)
    }
    case 'sessions':
      return fetchSessions(context)
    case 'messages':
      return fetchMessages(context)
  }
}
