import type { EntityResource } from '../../lake/resources.ts'
import { readSpool } from '../../lake/hook-spool.ts'
import { givenUpIds } from './sessions.ts'
import type { EntitySelection } from './context.ts'
import { askLake, landedBefore, missingDays, textIn, type LakeOf } from './known.ts'
import { allSeen, candidatesToAsk, namedIn } from './session-ids.ts'

/** What a sync would request of one resource, in words, and the minimum number of requests. */
export interface EntityPlan {
  readonly resource: EntityResource
  readonly what: string
  readonly requests: number
}

/** Plans the requests of a sync without sending any. Reads files without verifying them. */
export async function planEntities(
  lake: LakeOf,
  selection: EntitySelection,
): Promise<EntityPlan[]> {
  const plans: EntityPlan[] = []
  for (const resource of selection.resources) {
    plans.push({ resource, ...(await planOf(lake, selection, resource)) })
  }
  return plans
}

async function planOf(
  lake: LakeOf,
  selection: EntitySelection,
  resource: EntityResource,
): Promise<Omit<EntityPlan, 'resource'>> {
  switch (resource) {
    case 'hook_events': {
      const { length } = await readSpool(lake.dataFolder, Number.MAX_SAFE_INTEGER)
      return { what: `${length} recorded and not landed yet`, requests: 0 }
    }
    case 'enterprise_controls':
      return { what: await revisions(lake, selection.refetch), requests: 1 }
    case 'usage_limits':
    case 'computers':
      return { what: 'all, as they are', requests: 1 }
    case 'readiness_reports':
      return { what: 'every page', requests: 1 }
    case 'computer_metrics': {
      const { length } = await askLake(lake, 'computers', 'known_computers')
      return { what: `${length} known computers, since their last sample`, requests: length }
    }
    case 'sessions':
    case 'messages': {
      const isGivenUp = await givenUpIds(lake.dataFolder, lake.orgId)
      const named = namedIn(selection, resource)
      const seen = await allSeen(lake, resource)
      const { length } = await candidatesToAsk(lake, resource, named, seen, isGivenUp)
      return { what: `${length} due`, requests: length }
    }
  }
}

async function revisions(lake: LakeOf, isForced: boolean): Promise<string> {
  const missing = missingDays(lake, await landedBefore(lake), 'enterprise_controls')
  if (isForced || missing?.length !== 0) return 'the whole history'
  const known = await askLake(lake, 'enterprise_controls', 'known_items', { key: "'$.revision'" })
  const newest = Math.max(...known.map((row) => Number(textIn(row, 'key'))))
  return Number.isFinite(newest) ? `revisions after ${newest}` : 'the whole history'
}
