import { addDays, startOf, type Day } from '../../lib/days.ts'
import { ENTITY_RESOURCES, isSnapshot, type EntityResource } from '../../lake/resources.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Computer } from '../../client/index.ts'
import { abortsRun, isNotGranted } from '../context.ts'
import type { Lake } from '../land/raw-writer.ts'
import { spoolNames } from '../../lake/hook-spool.ts'
import {
  askLake,
  landedBefore,
  missingDays,
  saveLandedDays,
  textIn,
  today,
  type EntityContext,
  type EntitySelection,
  type LandedDays,
} from './context.ts'
import { landHookEvents } from './hooks.ts'
import { fetchControls, fetchReadiness, landSnapshot } from './lists.ts'
import { fetchMetrics } from './metrics.ts'
import { allSeen, candidatesToAsk, namedIn, type SessionResource } from './session-ids.ts'
import { fetchSessions, MOST_A_NIGHT, unknownIds, waitingIn } from './sessions.ts'

/** What a sync would request of one resource, in words, and the minimum number of requests. */
interface EntityPlan {
  readonly resource: EntityResource
  readonly what: string
  readonly requests: number
}

/** Plans the requests of a sync on that day without sending any. Reads files without verifying them. */
export async function planEntities(
  lake: Lake,
  selection: EntitySelection,
  day: Day,
): Promise<EntityPlan[]> {
  const plans: EntityPlan[] = []
  for (const resource of selection.resources) {
    plans.push({ resource, ...(await ENTITIES[resource].plan(lake, selection, day)) })
  }
  return plans
}

/**
 * Lands the entity resources, whose files are verified. A resource that fails does not stop the
 * others: it is recorded as failed. Resources that were never available do not make the night
 * partial, unless the user named them; one warning reports them once for each reason.
 *
 * @throws errors that abort the run (see `abortsRun`).
 */
export async function syncEntities(context: EntityContext): Promise<void> {
  const { orgId, selection, warn } = context
  const landed = await landedBefore(context, warn)
  const run: Run = { context, landed, computers: undefined }
  const fetched: EntityResource[] = []
  const forbidden: string[] = []
  try {
    for (const resource of ENTITY_RESOURCES.filter((name) => selection.resources.includes(name))) {
      const outcome = await attempt(run, resource)
      if (outcome === 'fetched') fetched.push(resource)
      else if (outcome !== 'not fetched') forbidden.push(outcome)
    }
  } finally {
    if (fetched.length > 0) await saveLandedDays(context, landed, fetched)
  }
  if (forbidden.length > 0) warn(`not available for ${orgId}: ${forbidden.join('; ')}`)
}

/** State that the resources of one run share. */
interface Run {
  readonly context: EntityContext
  readonly landed: LandedDays
  /** As they were served in this run. */
  computers: readonly Computer[] | undefined
}

/** Returns 'fetched', 'not fetched' or the reason, if it is new, why a resource is not granted. */
async function attempt(run: Run, resource: EntityResource): Promise<string> {
  const { context } = run
  const { recorder, selection } = context
  const failed = async (error: unknown): Promise<string> => {
    await recorder.failed(resource, [today(context)], error)
    return 'not fetched'
  }
  const isFirst = !recorder.hasLanded(resource)
  try {
    const error = await ENTITIES[resource].fetch(run)
    if (error instanceof Error) return await failed(error)
  } catch (error) {
    if (!isNotGranted(error) && abortsRun(error)) throw error
    const isExpected = selection.areNamed || recorder.hasLanded(resource)
    if (!isNotGranted(error) || isExpected) return failed(error)
    const isNew = await recorder.forbidden(resource, today(context), error)
    return isNew ? `${resource} (${messageOf(error)})` : 'not fetched'
  }
  if (isFirst || !isSnapshot(resource)) await recorder.recovered(resource)
  return 'fetched'
}

/** How a resource is planned, without a request, and fetched. */
interface Entity {
  /** What a sync would request, and the minimum number of requests. */
  readonly plan: (
    lake: Lake,
    selection: EntitySelection,
    day: Day,
  ) => Promise<Omit<EntityPlan, 'resource'>>
  /** Returns an error if part of it was not available. */
  readonly fetch: (run: Run) => Promise<unknown>
}

const ENTITIES: Record<EntityResource, Entity> = {
  hook_events: {
    plan: async ({ dataFolder }) => {
      const { length } = await spoolNames(dataFolder)
      return { what: `${length} recorded but not landed yet`, requests: 0 }
    },
    fetch: ({ context }) => landHookEvents(context),
  },
  enterprise_controls: {
    plan: async (lake, { refetch }) => ({ what: await revisions(lake, refetch), requests: 1 }),
    fetch: ({ context, landed }) => {
      const isWhole = missingDays(context, landed, 'enterprise_controls')?.length !== 0
      return fetchControls(context, context.selection.refetch || isWhole)
    },
  },
  usage_limits: {
    plan: one('a snapshot of all'),
    fetch: async ({ context }) =>
      landSnapshot(context, 'usage_limits', await context.client.limits.fetch()),
  },
  readiness_reports: { plan: one('every page'), fetch: ({ context }) => fetchReadiness(context) },
  computers: {
    plan: one('a snapshot of all'),
    fetch: async (run) => {
      const served = await run.context.client.computers.fetchAll()
      run.computers = (await landSnapshot(run.context, 'computers', served)).computers
    },
  },
  computer_metrics: {
    plan: async (lake) => {
      const { length } = await askLake(lake, 'computers', 'known_computers')
      return { what: `samples of ${length} computers, since the last one`, requests: length }
    },
    fetch: ({ context, landed, computers }) => {
      const [first] = missingDays(context, landed, 'computer_metrics') ?? []
      // the samples of a day are those since the night before
      const from = first === undefined ? undefined : startOf(addDays(first, -1))
      return fetchMetrics(context, computers, from)
    },
  },
  sessions: byId('sessions'),
  messages: byId('messages'),
}

function one(what: string): Entity['plan'] {
  return () => Promise.resolve({ what, requests: 1 })
}

function byId(resource: SessionResource): Entity {
  return {
    plan: async (lake, selection, day) => {
      const isWaiting = waitingIn(await unknownIds(lake), day)
      const named = namedIn(selection, resource)
      const rule = { seen: await allSeen(lake, resource), isWaiting }
      const { length } = await candidatesToAsk(lake, resource, named, rule)
      const most = length > MOST_A_NIGHT ? `, at most ${MOST_A_NIGHT} a night` : ''
      return { what: `${length} due${most}`, requests: Math.min(length, MOST_A_NIGHT) }
    },
    fetch: ({ context }) => fetchSessions(context, resource),
  }
}

async function revisions(lake: Lake, isForced: boolean): Promise<string> {
  const missing = missingDays(lake, await landedBefore(lake), 'enterprise_controls')
  if (isForced || missing?.length !== 0) return 'the whole history'
  const known = await askLake(lake, 'enterprise_controls', 'known_items', { key: "'$.revision'" })
  const newest = Math.max(...known.map((row) => Number(textIn(row, 'key'))))
  return Number.isFinite(newest) ? `revisions after ${newest}` : 'the whole history'
}
