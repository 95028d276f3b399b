import { AppError, messageOf } from '../../lib/errors.ts'
import {
  ApiError,
  BodyError,
  BodyTooLargeError,
  RefusedError,
  TransportError,
} from '../../client/index.ts'

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
 * True for an answer that forbids this resource, although the credential is valid: other
 * resources may be allowed.
 */
export function isForbidden(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === 403
}

/** Whether an error is an answer to this request, so that other resources may still be served. */
export function isOfResource(error: unknown): boolean {
  return isForbidden(error) || !(abortsRun(error) || error instanceof TransportError)
}

/** Whether an answer says that the resource is forbidden (403) or does not exist (404). */
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
