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
}

/** What comes before the body. Header names are lower case. */
export interface HttpHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** The pieces of a body, decompressed. A reader that stops early closes the connection. */
export type Body = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export interface HttpResponse extends HttpHead {
  readonly body: Body
}

export interface WholeResponse extends HttpHead {
  readonly body: Uint8Array
}

export async function wholeBody(body: Body): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}

/** Reports what is wrong and stops nothing. */
export type Warn = (message: string) => void

export function warner({ emit }: Pick<World, 'emit'>, about?: WarningSubject): Warn {
  return (message) => {
    emit({ type: 'warning', message, ...(about === undefined ? {} : { about }) })
  }
}

/**
 * Every effect that is not a file or a database. Tests replace the
 * clock, random numbers and the network.
 */
export interface World {
  /**
   * Sends one request; rejects when no response came, as reading the body does when it breaks off.
   * Never retries, never redirects. The caller reads the body, or the connection stays open.
   */
  readonly fetch: (request: HttpRequest) => Promise<HttpResponse>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Resolves after `ms`; rejects when the signal aborts first. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** A number in [0, 1). */
  readonly random: () => number
  readonly emit: (event: RunEvent) => void
  /** Aborts on SIGINT, SIGTERM and SIGHUP: no more requests are sent; running ones may finish. */
  readonly signal: AbortSignal
  /** Aborts some time after `signal`, or at a second one: requests in progress end too. */
  readonly hangUp: AbortSignal
}
