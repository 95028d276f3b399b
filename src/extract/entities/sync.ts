import { addDays, startOf } from '../../lib/days.ts'
import { ENTITY_RESOURCES, isSnapshot, type EntityResource } from '../../lake/resources.ts'
import { messageOf } from '../../lib/errors.ts'
import { warner } from '../../lib/world.ts'
import type { Computer } from '../../client/index.ts'
import { abortsRun, isNotGranted } from '../fetch/failures.ts'
import { today, type EntityContext } from './context.ts'
import { landHookEvents } from './hooks.ts'
import { keepLanded, landedBefore, missingDays, type LandedDays } from './known.ts'
import { fetchComputers, fetchControls, fetchLimits, fetchReadiness } from './lists.ts'
import { fetchMetrics } from './metrics.ts'
import { fetchSessions } from './sessions.ts'

/**
 * Lands the entity resources, whose files are verified. A resource that fails does not stop the
 * others: it is recorded as failed. Resources that this credential was never granted are
 * reported in one warning and do not make the night partial.
 *
 * @throws errors that abort the run (see `abortsRun`).
 */
export async function syncEntities(context: EntityContext): Promise<void> {
  const { orgId, world, selection } = context
  const warn = warner(world)
  const landed = await landedBefore(context, warn)
  const run: Run = { context, landed, computers: undefined }
  const fetched: EntityResource[] = []
  const forbidden: string[] = []
  try {
    for (const resource of ENTITY_RESOURCES.filter((name) => selection.resources.includes(name))) {
      const outcome = await attempt(run, resource)
      if (outcome === 'fetched') fetched.push(resource)
      else if (outcome !== 'failed') forbidden.push(outcome)
    }
  } finally {
    if (fetched.length > 0) await keepLanded(context, landed, fetched)
  }
  if (forbidden.length > 0)
    warn(`not available for ${orgId} with this credential: ${forbidden.join('; ')}`)
}

/** State that the resources of one run share. */
interface Run {
  readonly context: EntityContext
  readonly landed: LandedDays
  /** As they were served in this run. */
  computers: readonly Computer[] | undefined
}

/** Returns 'fetched', 'failed' or, for a resource that was never granted, the reason. */
async function attempt(run: Run, resource: EntityResource): Promise<string> {
  const { context } = run
  const { recorder } = context
  const failed = async (error: unknown): Promise<string> => {
    await recorder.failed(resource, [today(context)], error)
    return 'failed'
  }
  try {
    const error = await FETCH[resource](run)
    if (error instanceof Error) return await failed(error)
  } catch (error) {
    if (!isNotGranted(error) && abortsRun(error)) throw error
    if (!isNotGranted(error) || recorder.hasLanded(resource)) return failed(error)
    await recorder.forbidden(resource, today(context), error)
    return `${resource} (${messageOf(error)})`
  }
  if (!isSnapshot(resource)) await recorder.recovered(resource)
  return 'fetched'
}

/** How to fetch each resource. Returns an error if part of it was not available. */
const FETCH: Record<EntityResource, (run: Run) => Promise<unknown>> = {
  hook_events: ({ context }) => landHookEvents(context),
  enterprise_controls: ({ context, landed }) => {
    const isWhole = missingDays(context, landed, 'enterprise_controls')?.length !== 0
    return fetchControls(context, context.selection.refetch || isWhole)
  },
  usage_limits: ({ context }) => fetchLimits(context),
  readiness_reports: ({ context }) => fetchReadiness(context),
  computers: async (run) => {
    run.computers = await fetchComputers(run.context)
  },
  computer_metrics: ({ context, landed, computers }) => {
    const [first] = missingDays(context, landed, 'computer_metrics') ?? []
    // the samples of a day are those since the night before
    const from = first === undefined ? undefined : startOf(addDays(first, -1))
    return fetchMetrics(context, computers, from)
  },
  sessions: ({ context }) => fetchSessions(context, 'sessions'),
  messages: ({ context }) => fetchSessions(context, 'messages'),
}
