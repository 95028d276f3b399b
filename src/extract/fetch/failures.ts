import { AppError, messageOf } from '../../lib/errors.ts'
import {
  ApiError,
  BodyError,
  BodyTooLargeError,
  RefusedError,
  TransportError,
} from '../../client/index.ts'

/**
 * True for what must stop the run: a refused credential, a deferral, an abort,
 * a fault of this machine (disk full). Everything else concerns the days asked for.
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
 * True for an answer that forbids what was asked for and leaves the credential good:
 * other resources may be allowed.
 */
export function isForbidden(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === 403
}

/** True for an answer that says that this is not available with this credential, or does not exist. */
export function isNotGranted(error: unknown): boolean {
  return isForbidden(error) || (error instanceof ApiError && error.status === 404)
}

/** Failures in a row after which a resource is left alone: more than one bad day can cause by halving. */
const LIMIT = 12

/** Stops asking for a resource that does not answer, or is forbidden, for the rest of the run. */
export class Breaker {
  readonly #failures = new Map<string, number>()
  readonly #tripped = new Map<string, AppError>()
  #forbidden: RefusedError | null = null

  /** Why a resource was forbidden, the first one; null where none was. */
  get forbidden(): RefusedError | null {
    return this.#forbidden
  }

  succeeded(resource: string): void {
    this.#failures.set(resource, 0)
  }

  failed(resource: string, error: unknown): void {
    if (isForbidden(error)) {
      this.#forbidden ??= error
      this.#tripped.set(resource, error)
      return
    }
    const count = (this.#failures.get(resource) ?? 0) + 1
    this.#failures.set(resource, count)
    if (count !== LIMIT) return
    const message = `not asked for: ${LIMIT} requests for ${resource} failed one after the other, the last with: ${messageOf(error)}`
    this.#tripped.set(resource, new AppError(message, { cause: error }))
  }

  /** Why the resource is left alone; undefined while it is not. */
  tripped(resource: string): AppError | undefined {
    return this.#tripped.get(resource)
  }
}
