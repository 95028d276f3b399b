import { fieldOf, RefusedError } from '../../client/index.ts'
import { isObject } from '../../lib/json.ts'
import { platformNow, abortsRun, isNotGranted } from '../context.ts'
import { type EntityContext, today, Responses, pathOf } from './context.ts'
import {
  allSeen,
  candidatesToAsk,
  dueOf,
  idOf,
  namedIn,
  removedSoon,
  retentionDays,
  type Candidate,
  type IsWaiting,
  type SessionResource,
} from './session-ids.ts'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { mapLimit } from '../../lib/concurrency.ts'
import { daysBetween, type Day } from '../../lib/days.ts'
import { asError } from '../../lib/errors.ts'
import { grouped } from '../../lib/grouped.ts'
import { someOf } from '../../lib/text.ts'
import { dayShape } from '../../lake/ledger.ts'
import { mapOf, stateFile } from '../../lake/state-file.ts'
import type { Warn } from '../../lib/world.ts'
import type { Lake } from '../land/raw-writer.ts'

/**
 * Fetches the due sessions or messages: those that never landed, were not idle, or had changed
 * in the week before their last fetch. Those that the platform may remove before the next night,
 * by the retention of the settings, come first. Children of sessions are added as they are
 * found. If one fails, the others still land, and the first error is returned.
 */
export async function fetchSessions(
  context: EntityContext,
  resource: SessionResource,
): Promise<Error | null> {
  const named = namedIn(context.selection, resource)
  const seen = await allSeen(context, resource)
  const requests = new IdRequests(context, resource, await unknownIds(context, context.warn))
  // of messages only the last update tells when they go
  const mayGo = resource === 'sessions' || seen.size > 0
  const days = mayGo ? await retentionDays(context) : null
  const isRemovedSoon = removedSoon(days, seen, platformNow(context))
  const dayAfterFailure = context.recorder.hasFailed(resource) ? today(context) : undefined
  const rule = { seen, isWaiting: requests.isWaiting, isRemovedSoon, dayAfterFailure }
  const requested = new Set<string>()
  let round = await candidatesToAsk(context, resource, named, rule)
  while (round.length > 0) {
    for (const candidate of round) requested.add(idOf(candidate))
    const children = await requests.sendAll(round)
    const others = children.filter((candidate) => !requested.has(idOf(candidate)))
    round = dueOf(others, rule)
  }
  return requests.end()
}

/** The field may not be a map, although one is documented. */
function childrenOf(session: unknown): Candidate[] {
  const named = fieldOf(fieldOf(session, 'sessionSettings'), 'childInclusiveTokenUsageBySessionId')
  return isObject(named) ? Object.keys(named).map((sessionId) => ({ sessionId })) : []
}

/** Maximum number of ids requested per night. */
export const MOST_A_NIGHT = 500

/** Consecutive failures, or refusals before any response, that end the requests of a night. */
const MOST_FAILURES = 12
const MOST_REFUSALS = 3

/** Nights on which an id that the platform does not serve is requested each time. */
const PATIENCE = 3

const misses = z.object({ nights: z.number().int().positive(), last: dayShape })

/** By id, on how many nights the platform did not serve it, and on which last: `<data>/state/unknown-sessions/<org>.json`. */
type Unknown = ReadonlyMap<string, z.infer<typeof misses>>

const unknownFile = stateFile<Unknown>('unknown-sessions', mapOf(misses), 1)

export async function unknownIds({ dataFolder, orgId }: Lake, warn?: Warn): Promise<Unknown> {
  return (await unknownFile.read(dataFolder, orgId, warn)) ?? new Map()
}

/**
 * Returns which ids are not requested on this day: those not served on PATIENCE nights wait for 4
 * days, then for twice as long each time, because the key may have lost its role for a while only.
 */
export function waitingIn(unknown: Unknown, day: Day): IsWaiting {
  return (id) => {
    const { nights, last } = unknown.get(id) ?? { nights: 0, last: day }
    return nights >= PATIENCE && Math.abs(daysBetween(last, day)) < 2 ** (nights - 1)
  }
}

/** Requests items one by one, by ids that may not exist, and lands the ones received. */
class IdRequests {
  readonly isWaiting: IsWaiting
  readonly #context: EntityContext
  readonly #resource: SessionResource
  readonly #before: Unknown
  readonly #unknown: Map<string, z.infer<typeof misses>>
  readonly #responses: Responses
  readonly #errors: Error[] = []
  /** Each id that was not served, and why. */
  readonly #missed = new Map<string, Error>()
  #requested = 0
  #left = 0
  #failuresInARow = 0

  constructor(context: EntityContext, resource: SessionResource, unknown: Unknown) {
    this.#context = context
    this.#resource = resource
    this.#before = unknown
    this.#unknown = new Map(unknown)
    this.isWaiting = waitingIn(this.#unknown, today(context))
    this.#responses = new Responses(context, resource)
  }

  /**
   * Requests the candidates, up to the limit of a night. A failure does not stop the others. Returns
   * the children of the sessions received.
   */
  async sendAll(candidates: readonly Candidate[]): Promise<Candidate[]> {
    const room = MOST_A_NIGHT - this.#requested
    this.#left += Math.max(0, candidates.length - room)
    const { client, concurrency } = this.#context
    const children: Candidate[] = []
    const sending = mapLimit(candidates.slice(0, room), concurrency, async (candidate) => {
      if (this.#isTripped()) {
        this.#left += 1
        return
      }
      this.#requested += 1
      const { sessionId, messageId, computerId } = candidate
      try {
        if (messageId === undefined) {
          const session = await client.sessions.fetch(sessionId, { computerId })
          children.push(...childrenOf(session.value))
          this.#responses.add(session)
        } else {
          this.#responses.add(
            await client.sessions.fetchMessage(sessionId, messageId, { computerId }),
          )
        }
        this.#failuresInARow = 0
        this.#unknown.delete(idOf(candidate))
      } catch (error) {
        this.#failed(idOf(candidate), error)
      }
    })
    await this.#responses.received(sending, () => this.#land())
    return children
  }

  /**
   * Lands the items received. Returns the first error if a request failed.
   *
   * @throws RefusedError if requests were refused and nothing has landed, now or before.
   */
  async end(): Promise<Error | null> {
    const { dataFolder, orgId, recorder } = this.#context
    if (!isDeepStrictEqual(this.#unknown, this.#before))
      await unknownFile.write(dataFolder, orgId, this.#unknown)
    this.#report()
    if (this.#requested === 0) return null
    const isServed = this.#responses.rows.length > 0
    const refusal = this.#refusals().at(-1)
    if (refusal !== undefined && !isServed && !recorder.hasLanded(this.#resource)) throw refusal
    if (isServed || this.#errors.length === 0) await this.#land()
    return this.#errors[0] ?? null
  }

  #land(): Promise<void> {
    return this.#responses.addToDay(pathOf, this.#responses.inOrderOfRequests())
  }

  #failed(id: string, error: unknown): void {
    if (!isNotGranted(error)) {
      if (abortsRun(error)) throw error
      this.#errors.push(asError(error))
      this.#failuresInARow += 1
      return
    }
    this.#missed.set(id, asError(error))
    this.#failuresInARow = 0
    const last = today(this.#context)
    const before = this.#unknown.get(id)
    if (before?.last !== last) this.#unknown.set(id, { nights: (before?.nights ?? 0) + 1, last })
  }

  #refusals(): Error[] {
    return [...this.#missed.values()].filter((error) => error instanceof RefusedError)
  }

  #isTripped(): boolean {
    const isRefused = this.#responses.rows.length === 0 && this.#refusals().length >= MOST_REFUSALS
    return isRefused || this.#failuresInARow >= MOST_FAILURES
  }

  /** Reports every refused id that the user named, and each other one on its first night. */
  #report(): void {
    const { orgId, selection } = this.#context
    const warn = (message: string): void => {
      this.#context.warn(`${this.#resource} of ${orgId}: ${message}`)
    }
    const named = new Set(namedIn(selection, this.#resource).map(idOf))
    const reported = [...this.#missed].filter(([id]) => named.has(id) || !this.#before.has(id))
    const groups = grouped(reported, ([id, error]) => {
      if (!named.has(id)) return 'others'
      return error instanceof RefusedError ? 'refused' : 'absent'
    })
    const idsIn = (group: 'absent' | 'refused' | 'others'): string =>
      someOf((groups.get(group) ?? []).map(([id]) => id))
    if (groups.has('absent'))
      warn(`requested by id, but not found on the platform (404): ${idsIn('absent')}`)
    if (groups.has('refused'))
      warn(`requested by id, but forbidden for this key (403): ${idsIn('refused')}`)
    if (groups.has('others'))
      warn(
        `the platform does not serve ${idsIn('others')}; an id is requested in three nights, then at growing intervals`,
      )
    if (this.#left > 0) warn(`${this.#left} are left for the next night`)
  }
}
