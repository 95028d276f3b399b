import { addDays, dayOf, HISTORY_START, type Day } from '../core/days.ts'
import { ApiError, type AnalyticsAnswer, type PlatformClient } from '../client/index.ts'
import type { World } from '../core/world.ts'

/** What the first answer of a run tells. */
export interface Handshake {
  /** Null when the platform did not name the organisation. */
  readonly orgId: string | null
  /** The platform's clock less this machine's, milliseconds. 0 when it sent no `Date`. */
  readonly skewMs: number
  /** The UTC day that is not over there. */
  readonly today: Day
}

/** `Date` has whole seconds, and travels: a smaller difference tells nothing. */
const DATE_PRECISION_MS = 2_000

/**
 * One small request before the plan: is the credential good, whose is it, and
 * what day is it there? "Yesterday" is the server's, never the runner's.
 */
export async function shakeHands(client: PlatformClient, world: World): Promise<Handshake> {
  const answer = await firstAnswer(client, world)
  const now = world.now()
  const serverNow = answer.serverTime ?? now
  const difference = serverNow - now
  const skewMs = Math.abs(difference) < DATE_PRECISION_MS ? 0 : difference
  return { orgId: answer.orgId, skewMs, today: dayOf(serverNow) }
}

/**
 * The platform may one day forget its first days. Then a recent one is asked
 * for: without an answer it would not be known whose credential this is.
 */
async function firstAnswer(client: PlatformClient, world: World): Promise<AnalyticsAnswer> {
  const ask = (day: Day): Promise<AnalyticsAnswer> =>
    client.ask('activity', { range: { first: day, last: day } })
  try {
    return await ask(HISTORY_START)
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) {
      return ask(addDays(dayOf(world.now()), -2))
    }
    throw error
  }
}
