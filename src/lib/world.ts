import type { RunEvent, WarningSubject } from './events.ts'

/** One HTTP request, as the client hands it to the World. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Milliseconds from the request to the last byte of the body. */
  readonly timeoutMs: number
  /** A longer body is an error: BodyTooLargeError. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Asked when the head has come: who takes the body piece by piece. Null: it is collected. */
  readonly takerFor?: (head: HttpHead) => BodyTaker | null
}

/** What comes before the body. Header names are lower case. */
export type HttpHead = Pick<HttpResponse, 'status' | 'headers'>

/**
 * Takes a piece of a body, decompressed. The next one is read when it is done:
 * false when no more is wanted. It does not reject: that would be taken for a network error.
 */
export type BodyTaker = (piece: Uint8Array) => Promise<boolean>

/** One HTTP response. Header names are lower case. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Whole; empty where it was taken piece by piece. */
  readonly body: Uint8Array
}

/** Reports what is wrong and stops nothing. */
export type Warn = (message: string) => void

/** Warns by an event. */
export function warner({ emit }: Pick<World, 'emit'>, about?: WarningSubject): Warn {
  return (message) => {
    emit({ type: 'warning', message, ...(about === undefined ? {} : { about }) })
  }
}

/**
 * Every effect that is not a file or a database. Tests own the clock, chance
 * and the network by passing their own.
 */
export interface World {
  /** Sends one request; rejects when no whole answer came. Never retries, never redirects. */
  readonly fetch: (request: HttpRequest) => Promise<HttpResponse>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Resolves after `ms`; rejects when the signal aborts first. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** A number in [0, 1). */
  readonly random: () => number
  readonly emit: (event: RunEvent) => void
  /** Aborts on SIGINT and SIGTERM: nothing more is asked for; requests under way may finish. */
  readonly signal: AbortSignal
  /** Aborts some time after `signal`, or at a second one: requests under way end too. */
  readonly hangUp: AbortSignal
}
