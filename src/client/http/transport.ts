import pRetry from 'p-retry'
import { DeferredError, messageOf } from '../../lib/errors.ts'
import { KnownSecrets } from '../../lib/secrets/known-secrets.ts'
import type { Learned } from '../../lib/learned.ts'
import {
  wholeBody,
  type Body,
  type HttpHead,
  type HttpRequest,
  type HttpResponse,
  type WholeResponse,
  type World,
} from '../../lib/world.ts'
import {
  deferral,
  outOfTime,
  TransportError,
  UnknownOutcomeError,
  type ApiError,
  withoutCursors,
} from '../errors.ts'
import { Governor, type GovernorOptions } from '../rate-limit/governor.ts'
import {
  failureOf,
  MAX_PROBLEM_BYTES,
  backoffMs,
  isTimeout,
  isRateRefusal,
  isTooSlow,
  mayPass,
  RATE_RETRIES,
  RETRIES,
  RetryBudget,
} from './failures.ts'
import { waitOf } from '../rate-limit/headers.ts'

export interface TransportOptions extends GovernorOptions {
  /** API key or JWT. */
  readonly credential: string
  /** The time limit of one complete response. */
  readonly timeoutMs?: number | undefined
}

/** One request to an origin, before the transport adds the credential. */
export interface Call {
  readonly method: HttpRequest['method']
  /** `https://host/prefix`, without a trailing slash. */
  readonly base: string
  /** Path and query, beginning with `/`. */
  readonly path: string
  readonly maxBytes: number
  /** JSON text. */
  readonly body?: string | undefined
  /** The caller divides a request that takes too long, so it is not retried as it is. */
  readonly isDivisible?: boolean
}

/** Where a response comes from. */
export interface ResponseOrigin {
  /** Path and query, as asked. */
  readonly request: string
  readonly requestId: string | null
}

/**
 * Reads one response while it comes. A BodyError that it throws is retried, as a response that was cut
 * off, unless it is a ContradictionError.
 */
type ResponseReader<T> = (head: HttpHead, origin: ResponseOrigin, body: Body) => Promise<T>

const DEFAULT_TIMEOUT_MS = 120_000

/** Sends requests with the credential, through the governor, and retries what may be retried. */
export class Transport {
  readonly #options: TransportOptions
  readonly #world: World
  readonly #governor: Governor
  /** Removes the credential from every response before anything reads it. */
  readonly #secrets: KnownSecrets

  constructor(options: TransportOptions, world: World) {
    this.#options = options
    this.#world = world
    this.#governor = new Governor(options, world)
    this.#secrets = new KnownSecrets([options.credential])
  }

  /** The limits that the next run may begin with. */
  learned(): Learned {
    return this.#governor.learned()
  }

  /** Sends one request and hands its complete response to `read`; throws what `stream` throws. */
  call<T>(call: Call, read: (response: WholeResponse, origin: ResponseOrigin) => T): Promise<T> {
    return this.stream(call, async (head, origin, body) =>
      read({ ...head, body: await wholeBody(body) }, origin),
    )
  }

  /**
   * Sends one request; `read` reads the response while it comes, and is called again for a
   * response that was cut off.
   *
   * @throws RefusedError (401, 403), ApiError, TransportError, BodyTooLargeError,
   *   BodyError, and DeferredError if a wait would outlast the run. After
   *   `world.signal`, no request begins and none is retried; the response of one that is
   *   in progress is awaited and used.
   */
  async stream<T>(call: Call, read: ResponseReader<T>): Promise<T> {
    const budget = new RetryBudget()
    let fault: Error | undefined
    const send = (attempt: number): Promise<T> =>
      this.#governor.run(
        (sentAt) => this.#attempt(call, read, budget.nextWait, sentAt),
        attempt > 1,
      )
    return pRetry(send, {
      retries: RATE_RETRIES + RETRIES,
      minTimeout: 0,
      maxTimeout: 0,
      shouldRetry: async ({ error, attemptNumber }) => {
        if (mayPass(error) && !isRateRefusal(error)) fault = error
        const count = mayRepeat(call, error) ? budget.spend(error) : null
        if (count !== null) await this.#beforeRetry(call, error, attemptNumber, count)
        return count !== null
      },
    }).catch((error: unknown) => {
      const failure = isRateRefusal(error) ? toDeferred(call, error) : error
      const isStopped = failure instanceof DeferredError || failure === this.#world.signal.reason
      throw toUnknownOutcome(call, failure, isStopped ? fault : failure)
    })
  }

  /** `nextWait`: the number, from 1, of the wait that a rate refusal would lead to. */
  async #attempt<T>(
    call: Call,
    read: ResponseReader<T>,
    nextWait: number,
    sentAt: number,
  ): Promise<T> {
    const response = await this.#send(call, sentAt)
    const head = withoutSecrets(response, this.#secrets)
    const body = this.#watched(call, sentAt, head, response.body)
    if (isGood(head)) {
      const origin = { request: call.path, requestId: requestIdOf(head) }
      return read(head, origin, filtered(body, this.#secrets))
    }
    const whole = Buffer.from(await wholeBody(body))
    // only people read an error; it may quote a part of the credential
    const text = whole.byteLength > MAX_PROBLEM_BYTES ? '' : this.#secrets.message(whole.toString())
    const failure = failureOf(call.method, call.path, head, text)
    const { status, headers } = head
    const { waitMs, source } = waitOf(headers, nextWait, this.#world.now(), this.#world.random())
    const isRefused = isRateRefusal(failure)
    const isOverloaded = status === 503
    const isRequested = isRefused || (isOverloaded && source !== 'backoff')
    if (isRequested) waits.set(failure, waitMs)
    this.#governor.answered({
      kind: kindOf(call),
      sentAt,
      headers,
      health: isRefused ? 'refused' : isOverloaded ? 'overloaded' : 'faulty',
      ...(isRequested ? { hold: { waitMs, reason: failure } } : {}),
    })
    throw failure
  }

  async #send(call: Call, sentAt: number): Promise<HttpResponse> {
    try {
      return await this.#world.fetch({
        method: call.method,
        url: call.base + call.path,
        headers: {
          authorization: `Bearer ${this.#options.credential}`,
          accept: 'application/json',
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: call.body,
        timeoutMs: this.#timeoutMs(sentAt),
        maxBytes: call.maxBytes,
        signal: this.#world.hangUp,
      })
    } catch (error) {
      throw this.#faultOf(call, sentAt, error)
    }
  }

  #timeoutMs(sentAt: number): number {
    const { deadline, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    return Math.ceil(Math.min(timeoutMs, deadline - sentAt))
  }

  /**
   * The body as it comes. Reports the request as finished when the body has ended or is abandoned;
   * if it breaks off, only the governor is informed.
   */
  async *#watched(
    call: Call,
    sentAt: number,
    head: HttpHead,
    body: Body,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    let bytes = 0
    let isWhole = true
    try {
      for await (const piece of body) {
        bytes += piece.byteLength
        yield piece
      }
    } catch (error) {
      isWhole = false
      if (error instanceof TransportError) error.requestId = requestIdOf(head)
      throw this.#faultOf(call, sentAt, error)
    } finally {
      if (isWhole) this.#finished(call, sentAt, head, bytes)
    }
  }

  #finished(call: Call, sentAt: number, head: HttpHead, bytes: number): void {
    this.#world.emit({
      type: 'request.finished',
      path: withoutCursors(call.path),
      status: head.status,
      durationMs: this.#world.now() - sentAt,
      bytes,
      requestId: requestIdOf(head),
    })
    if (!isGood(head)) return // `#attempt` reports an error status, with its wait
    this.#governor.answered({ kind: kindOf(call), sentAt, headers: head.headers, health: 'well' })
  }

  /** Tells the governor that no complete response was received. Returns the error to throw. */
  #faultOf(call: Call, sentAt: number, error: unknown): unknown {
    this.#secrets.error(error)
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const isCut = isTimeout(error) && this.#timeoutMs(sentAt) < timeoutMs
    const health = isTimeout(error) && !isCut ? 'overloaded' : 'faulty'
    this.#governor.answered({ kind: kindOf(call), sentAt, headers: {}, health })
    if (call.method === 'GET') return isCut ? outOfTime(error) : error
    if (!this.#world.hangUp.aborted) return error
    const what = `${call.method} ${call.path}: stopped without a response`
    return unknownOutcome(`${what}: ${messageOf(error)}`, error)
  }

  /** `count`: the number of this wait, or of this fault, within the request. */
  async #beforeRetry(call: Call, error: Error, attempt: number, count: number): Promise<void> {
    this.#world.signal.throwIfAborted()
    const requestedMs = waits.get(error)
    const waitMs = requestedMs ?? backoffMs(count, this.#world.random())
    const path = withoutCursors(call.path)
    this.#world.emit({ type: 'request.retried', path, attempt, reason: error.message, waitMs })
    if (requestedMs !== undefined) return // the governor delays every request by this time
    if (this.#world.now() + waitMs >= this.#options.deadline) {
      throw deferral(`${error.message}; the next attempt would be after the time limit`, error)
    }
    await this.#world.sleep(waitMs, this.#world.signal)
  }
}

function withoutSecrets({ status, headers }: HttpHead, secrets: KnownSecrets): HttpHead {
  const clean = Object.entries(headers).map(
    ([name, value]) => [secrets.message(name), secrets.message(value)] as const,
  )
  return { status, headers: Object.fromEntries(clean) }
}

async function* filtered(
  body: Body,
  secrets: KnownSecrets,
): AsyncGenerator<Uint8Array, void, undefined> {
  const filter = secrets.stream()
  for await (const piece of body) {
    const clean = filter.write(piece)
    if (clean.byteLength > 0) yield clean
  }
  yield filter.end()
}

function isGood({ status }: HttpHead): boolean {
  return status >= 200 && status < 300
}

function requestIdOf({ headers }: HttpHead): string | null {
  return headers['x-request-id'] ?? null
}

function kindOf(call: Call): string {
  return call.path.split('?', 1)[0] ?? call.path
}

/** The time for which the governor holds every request after a refusal, or a 503 that states a wait. */
const waits = new WeakMap<Error, number>()

/** Methods that are safe to retry after an unclear failure: GET changes nothing, and PUT sets the same value again. */
const REPEATABLE: ReadonlySet<Call['method']> = new Set(['GET', 'PUT'])

function mayRepeat(call: Call, error: unknown): boolean {
  if (!REPEATABLE.has(call.method) || !mayPass(error)) return false
  return call.isDivisible !== true || !isTooSlow(error)
}

function toDeferred({ method }: Call, error: ApiError): DeferredError {
  if (REPEATABLE.has(method)) {
    return deferral(`${error.message}: still refused after ${RATE_RETRIES} waits`, error)
  }
  const hint = 'Nothing was changed; try again later.'
  return new DeferredError(error.message, { hint, cause: error })
}

/**
 * A call that changes something may have changed it although no complete response was received.
 * `cause`: the last failure without a response, which a deferral or a stop may have followed.
 */
function toUnknownOutcome(call: Call, error: unknown, cause: unknown): unknown {
  if (call.method === 'GET' || !mayPass(cause)) return error
  return unknownOutcome(messageOf(cause), cause)
}

function unknownOutcome(message: string, cause: unknown): UnknownOutcomeError {
  const hint = 'It is not known whether the platform made the change: check before you repeat it.'
  return new UnknownOutcomeError(message, { hint, cause })
}
