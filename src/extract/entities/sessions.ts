import { fieldOf, type PlatformClient, type Served } from '../../client/index.ts'
import { Asking } from './asking.ts'
import type { EntityContext } from './context.ts'
import {
  allSeen,
  candidatesToAsk,
  dueOf,
  idOf,
  namedIn,
  type Candidate,
  type SessionResource,
} from './session-ids.ts'

/**
 * The sessions or the messages that are due: those that never landed, were under way, or
 * were changed within a week before they were last fetched; the children of sessions as they
 * are found. One that fails keeps the others: they land, and the first error is returned.
 */
export async function fetchSessions(
  context: EntityContext,
  resource: SessionResource,
): Promise<Error | null> {
  const named = namedIn(context.selection, resource)
  const seen = await allSeen(context, resource)
  const asking = await Asking.open(context, resource, named.map(idOf))
  const requested = new Set<string>()
  let round = await candidatesToAsk(context, resource, named, seen, asking.isGivenUp)
  while (round.length > 0) {
    const children: Candidate[] = []
    for (const candidate of round) requested.add(idOf(candidate))
    await asking.askAll(round, async (candidate) => {
      const served = await request(context.client, candidate)
      if (resource === 'sessions') children.push(...childrenOf(served.value))
      return served
    })
    const others = children.filter((candidate) => !requested.has(idOf(candidate)))
    round = dueOf(others, seen, asking.isGivenUp)
  }
  return asking.land()
}

async function request(
  { sessions }: PlatformClient,
  { sessionId, messageId, computerId }: Candidate,
): Promise<Served<unknown>> {
  const on = computerId === undefined ? {} : { computerId }
  if (messageId === undefined) return sessions.fetch(sessionId, on)
  return sessions.fetchMessage(sessionId, messageId, on)
}

/** What is served may be no map, whatever is documented. */
function childrenOf(session: unknown): Candidate[] {
  const named = fieldOf(fieldOf(session, 'sessionSettings'), 'childInclusiveTokenUsageBySessionId')
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return []
  return Object.keys(named).map((sessionId) => ({ sessionId }))
}
