import { isDay, type Day, type DayRange } from '../lib/days.ts'
import { kindOf } from '../lib/text.ts'
import type { World } from '../lib/world.ts'
import {
  contradiction,
  ContradictionError,
  fieldOf,
  type ResponseMetadata,
  type ResponseOrigin,
  type ApiClient,
  type ServedRow,
  ApiError,
  BodyError,
  BodyTooLargeError,
  RefusedError,
  TransportError,
} from '../client/index.ts'
import type { RecordedLake } from './land/raw-writer.ts'
import type { PageOrigin } from '../lake/raw-days.ts'
import type { WindowSizes } from './plan/window-size.ts'
import { AppError, messageOf } from '../lib/errors.ts'

/** What landing needs, with or without the network. */
export interface LandingContext extends RecordedLake {
  readonly runId: string
  readonly world: World
  /** The platform's clock minus this machine's, in milliseconds. */
  readonly skewMs: number
}

/** What every task of one organisation's plan works with. */
export interface FetchContext extends LandingContext {
  readonly client: ApiClient
  /** Concurrent requests; the governor bounds them further. */
  readonly concurrency: number
  readonly breaker: Breaker
  readonly windowSizes: WindowSizes
  /**
   * The organisation's id as given by the first response, or by that of an earlier run if this one
   * gave none; null if none ever did.
   */
  readonly servedAs: string | null
}

/** A response for another organisation: a proxy's cache, a wrong route or a changed key. */
export class ForeignResponseError extends ContradictionError {}

/**
 * Returns the response, unless it names another organisation than `servedAs`.
 *
 * @throws ForeignResponseError
 */
export function requireOrganisation<T extends ResponseMetadata>(
  { servedAs }: FetchContext,
  response: T,
): T {
  const { orgId, request, requestId } = response
  if (orgId === null || servedAs === null || orgId === servedAs) return response
  const other = JSON.stringify(orgId.slice(0, 40))
  throw new ForeignResponseError(
    `GET ${request}: the response belongs to the organisation ${other}, not to ${JSON.stringify(servedAs)}`,
    requestId,
  )
}

/** Milliseconds since the epoch, by the platform's clock. */
export function platformNow({ world, skewMs }: LandingContext): number {
  return world.now() + skewMs
}

/** Where the rows of a response come from. */
export function originOf(context: LandingContext, response: ResponseOrigin, page = 1): PageOrigin {
  const { request, requestId } = response
  return { page, fetchedAt: platformNow(context), request, requestId, runId: context.runId }
}

/** @throws ContradictionError when the row has no day, or one that was not asked for. */
export function dayOfRow(
  response: ResponseOrigin,
  row: ServedRow,
  ordinal: number,
  range: DayRange,
): Day {
  const date = fieldOf(row.value, 'date')
  if (date === range.first) return range.first // the one day of a page of users
  const day = typeof date === 'string' ? date.slice(0, 10) : ''
  if (isDay(day) && isWithin(day, range)) return day
  // names the row and the problem, never its content: rows contain personal data
  const problem = isDay(day) ? `${day}, which was not requested` : `${kindOf(date)}, not a day`
  throw contradiction(response, `row ${ordinal}: 'date' is ${problem}`)
}

export function isWithin(day: Day, { first, last }: DayRange): boolean {
  return day >= first && day <= last
}

/**
 * Whether an error aborts the run: a refused credential, a deferral, an abort or a fault of
 * this machine (disk full). All other errors concern only the requested days.
 */
export function abortsRun(error: unknown): boolean {
  return !(
    error instanceof ApiError ||
    error instanceof BodyError ||
    error instanceof BodyTooLargeError ||
    error instanceof TransportError
  )
}

/**
 * True for a response that forbids this resource, although the credential is valid: other
 * resources may be allowed.
 */
export function isForbidden(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === 403
}

/** Whether an error is a response to this request, so that other resources may still be served. */
export function isOfResource(error: unknown): boolean {
  return isForbidden(error) || !(abortsRun(error) || error instanceof TransportError)
}

/** Whether a response says that the resource is forbidden (403) or does not exist (404). */
export function isNotGranted(error: unknown): boolean {
  return isForbidden(error) || (error instanceof ApiError && error.status === 404)
}

/** Consecutive failures after which a resource is skipped; bisecting one bad day causes fewer. */
const LIMIT = 12

/** Skips a resource for the rest of the run once it stops answering or is forbidden. */
export class Breaker {
  readonly #failures = new Map<string, number>()
  readonly #tripped = new Map<string, AppError>()
  #forbidden: RefusedError | null = null

  /** The first error that forbade a resource; null if none did. */
  get forbidden(): RefusedError | null {
    return this.#forbidden
  }

  succeeded(resource: string): void {
    this.#failures.set(resource, 0)
  }

  failed(resource: string, error: unknown): void {
    if (isForbidden(error)) {
      this.#forbidden ??= error
      const message = `not requested, because ${resource} was refused: ${messageOf(error)}`
      this.#tripped.set(resource, new AppError(message, { cause: error }))
      return
    }
    const count = (this.#failures.get(resource) ?? 0) + 1
    this.#failures.set(resource, count)
    if (count !== LIMIT) return
    const message = `not requested, because ${LIMIT} requests for ${resource} in a row failed, the last one with: ${messageOf(error)}`
    this.#tripped.set(resource, new AppError(message, { cause: error }))
  }

  /** Why the resource is skipped; undefined if it is not. */
  tripped(resource: string): AppError | undefined {
    return this.#tripped.get(resource)
  }
}
