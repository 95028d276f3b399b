import { fieldOf, type Session } from '../../client/index.ts'
import { Asking } from './asking.ts'
import type { EntityContext } from './context.ts'
import {
  dueSessions,
  eachOnce,
  messageKey,
  messagesToAsk,
  seenSessions,
  sessionsToAsk,
  type Candidate,
} from './session-ids.ts'

/**
 * The sessions that are due: those that never landed, were under way, or were
 * changed within a week before they were last fetched; their children as they are
 * found. One that fails keeps the others: they land, and the first error is returned.
 */
export async function fetchSessions(context: EntityContext): Promise<Error | null> {
  const { client, selection } = context
  const seen = await seenSessions(context)
  const asking = await Asking.open(context, 'sessions', selection.sessions)
  const isGivenUp = (id: string): boolean => asking.isGivenUp(id)
  const requested = new Set<string>()
  let round = await sessionsToAsk(context, seen, selection.sessions, isGivenUp)
  while (round.length > 0) {
    const children: Candidate[] = []
    for (const { sessionId } of round) requested.add(sessionId)
    await asking.askAll(
      round,
      ({ sessionId }) => sessionId,
      async ({ sessionId, computerId }) => {
        const served = await client.sessions.fetch(sessionId, on(computerId))
        children.push(...childrenOf(served.value))
        return served
      },
    )
    const others = eachOnce(children).filter(({ sessionId }) => !requested.has(sessionId))
    round = dueSessions(others, seen, isGivenUp)
  }
  return asking.land()
}

/** What is served may be no map, whatever is documented. */
function childrenOf(session: Session): Candidate[] {
  const named = fieldOf(fieldOf(session, 'sessionSettings'), 'childInclusiveTokenUsageBySessionId')
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return []
  return Object.keys(named).map((sessionId) => ({ sessionId }))
}

/** The messages that are due, likewise. */
export async function fetchMessages(context: EntityContext): Promise<Error | null> {
  const { client, selection } = context
  const asking = await Asking.open(context, 'messages', selection.messages.map(messageKey))
  const messages = await messagesToAsk(context, selection.messages, (id) => asking.isGivenUp(id))
  await asking.askAll(
    [...messages],
    ([key]) => key,
    ([, { sessionId, messageId, computerId }]) =>
      client.sessions.fetchMessage(sessionId, messageId, on(computerId)),
  )
  return asking.land()
}

function on(computerId: string | undefined): { computerId?: string } {
  return computerId === undefined ? {} : { computerId }
}
