import { fieldOf, type Session } from '../../client/index.ts'
import { Asking } from './asking.ts'
import type { BesideContext } from './context.ts'
import {
  eachOnce,
  isDue,
  messageCandidates,
  messageKey,
  seenMessages,
  seenSessions,
  sessionCandidates,
  type Candidate,
  type LastSeen,
  type MessageCandidate,
} from './session-ids.ts'

/**
 * The sessions that are due: those that never landed, were under way, or were
 * changed within a week before they were last had; their children as they are
 * met. One that fails keeps the others: they land, and the first error is returned.
 */
export async function fetchSessions(context: BesideContext): Promise<Error | null> {
  const { client, selection } = context
  const seen = await seenSessions(context)
  const asking = await Asking.open(context, 'sessions')
  const forced = selection.sessions.map((sessionId) => ({ sessionId }))
  const met = new Set<string>(selection.sessions)
  let round = [
    ...eachOnce(forced),
    ...dueSessions(await sessionCandidates(context, seen), seen, met, asking),
  ]
  while (round.length > 0) {
    const children: Candidate[] = []
    for (const { sessionId } of round) met.add(sessionId)
    await asking.askAll(
      round,
      ({ sessionId }) => sessionId,
      async ({ sessionId, computerId }) => {
        const served = await client.sessions.fetch(sessionId, on(computerId))
        children.push(...childrenOf(served.value))
        return served
      },
    )
    round = dueSessions(eachOnce(children), seen, met, asking)
  }
  return asking.land()
}

/** What is served may be no map, whatever is documented. */
function childrenOf(session: Session): Candidate[] {
  const named = fieldOf(fieldOf(session, 'sessionSettings'), 'childInclusiveTokenUsageBySessionId')
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return []
  return Object.keys(named).map((sessionId) => ({ sessionId }))
}

/** Those that never landed first, then those that were had the longest ago. */
function dueSessions(
  candidates: readonly Candidate[],
  seen: ReadonlyMap<string, LastSeen>,
  met: ReadonlySet<string>,
  asking: Asking,
): Candidate[] {
  return candidates
    .filter(({ sessionId }) => !met.has(sessionId) && !asking.isGivenUp(sessionId))
    .filter(({ sessionId }) => isDue(seen.get(sessionId)))
    .toSorted((a, b) => fetchedAt(seen, a.sessionId) - fetchedAt(seen, b.sessionId))
}

/** The messages that are due, likewise. */
export async function fetchMessages(context: BesideContext): Promise<Error | null> {
  const { client, selection } = context
  const seen = await seenMessages(context)
  const asking = await Asking.open(context, 'messages')
  const forced = new Map<string, MessageCandidate>(
    selection.messages.map((each) => [messageKey(each), each]),
  )
  const listed = (await messageCandidates(context))
    .map((each) => [messageKey(each), each] as const)
    .filter(([key]) => !forced.has(key) && !asking.isGivenUp(key) && isDue(seen.get(key)))
    .toSorted(([a], [b]) => fetchedAt(seen, a) - fetchedAt(seen, b))
  await asking.askAll(
    [...forced, ...new Map<string, MessageCandidate>(listed)],
    ([key]) => key,
    ([, { sessionId, messageId, computerId }]) =>
      client.sessions.fetchMessage(sessionId, messageId, on(computerId)),
  )
  return asking.land()
}

function fetchedAt(seen: ReadonlyMap<string, LastSeen>, id: string): number {
  return seen.get(id)?.fetchedAt ?? 0
}

function on(computerId: string | undefined): { computerId?: string } {
  return computerId === undefined ? {} : { computerId }
}
