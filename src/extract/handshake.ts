import { addDays, dayOf, HISTORY_START, type Day, type DayRange } from '../core/days.ts'
import { UsageError } from '../core/errors.ts'
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

/**
 * The first request is for what every such platform has: 404 or a redirect is
 * another server's, unless the platform was met there before.
 */
export function isWrongAddress(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.status < 400)
}

export function wrongAddress(error: ApiError): UsageError {
  return new UsageError(error.message, {
    hint: 'Is AGENT_BASE_URL the platform’s public API host? Nothing was asked for beyond that.',
    cause: error,
  })
}

/** Two organisations in one folder under one name would be one history of both. */
export function mixedUp(organisation: string, orgId: string, known: string | null): UsageError {
  return new UsageError(
    `the credential of '${organisation}' belongs to the organisation '${orgId}', but the data folder holds '${known}' under that name`,
    { hint: 'Use another data folder, or list both organisations in agent-warehouse.yaml.' },
  )
}

export const TOLERATED_SKEW_MS = 5 * 60_000

/** Says so when this machine's clock is off. */
export function warnOfSkew(hello: Handshake, world: World): void {
  if (Math.abs(hello.skewMs) < TOLERATED_SKEW_MS) return
  const minutes = Math.round(hello.skewMs / 60_000)
  world.emit({
    type: 'warning',
    message: `this machine's clock is ${Math.abs(minutes)} minutes ${minutes > 0 ? 'behind' : 'ahead of'} the platform's; the platform's counts`,
  })
}

/** Says so when days were named that cannot be had. */
export function warnOfRange(
  { first, last }: Partial<DayRange> = {},
  hello: Handshake,
  world: World,
): void {
  if (first !== undefined && first < HISTORY_START) {
    world.emit({ type: 'warning', message: `the platform's history begins ${HISTORY_START}` })
  }
  const end = [first, last].some((day) => day !== undefined && day >= hello.today)
  if (end) {
    const message = `it is ${hello.today} at the platform: days before that can be asked for`
    world.emit({ type: 'warning', message })
  }
}
