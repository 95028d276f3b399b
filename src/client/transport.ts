import pRetry from 'p-retry'
import { DeferredError, messageOf } from '../core/errors.ts'
import type { Learnt } from '../core/learnt.ts'
import type { BodyTaker, HttpHead, HttpRequest, HttpResponse, World } from '../core/world.ts'
import { TransportError, UnknownOutcomeError, type ApiError } from './errors.ts'
import { Governor, type GovernorOptions } from './governor.ts'
import { failureOf } from './problem.ts'
import { backoffMs, isRateRefusal, isTooSlow, mayPass, RATE_RETRIES, RETRIES } from './retry.ts'
import { waitOf } from './wait.ts'

export interface TransportOptions extends GovernorOptions {
  /** API key or JWT. */
  readonly credential: string
  /** Milliseconds for one whole answer. */
  readonly timeoutMs?: number
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
  readonly body?: string
  /** The caller asks for less when this takes too long, so that it is not repeated as it is. */
  readonly isDivisible?: boolean
}

/** What an answer means, decided inside the retry loop so that a cut-off body is asked for again. */
export type Reader<T> = (response: HttpResponse, requestId: string | null) => T

/** Reads one answer while it comes. */
export interface StreamReader<T> {
  /** False when no more is wanted: `end` tells why. */
  readonly take: BodyTaker
  /** After the last piece. What it throws is as what a Reader throws. */
  readonly end: () => T | Promise<T>
}

const DEFAULT_TIMEOUT_MS = 120_000

/** Sends requests with the credential, through the governor, repeating what may be repeated. */
export class Transport {
  readonly #options: TransportOptions
  readonly #world: World
  readonly #governor: Governor

  constructor(options: TransportOptions, world: World) {
    this.#options = options
    this.#world = world
    this.#governor = new Governor(options, world)
  }

  /** What the next run may begin with. */
  learnt(): Learnt {
    return this.#governor.learnt()
  }

  /**
   * @throws RefusedError (401, 403), ApiError, TransportError, BodyTooLargeError,
   *   BodyError, and DeferredError when waiting would outlast the run. After
   *   `world.signal` no request begins and none is repeated; one that is under
   *   way is awaited, and its answer is good.
   */
  async call<T>(call: Call, read: Reader<T>): Promise<T> {
    return this.#repeat(call, async (attempt, sentAt) => {
      const response = await this.#attempt(call, attempt, sentAt)
      return read(response, requestIdOf(response))
    })
  }

  /**
   * The same, with the answer read while it comes. An answer that is cut off and
   * asked for again has a reader of its own.
   */
  async stream<T>(
    call: Call,
    readerFor: (head: HttpHead, requestId: string | null) => StreamReader<T>,
  ): Promise<T> {
    return this.#repeat(call, async (attempt, sentAt) => {
      const begun: StreamReader<T>[] = []
      const begin = (head: HttpHead): StreamReader<T> => {
        const reader = readerFor(head, requestIdOf(head))
        begun.push(reader)
        return reader
      }
      const response = await this.#attempt(call, attempt, sentAt, begin)
      const [reader = begin(response)] = begun
      if (response.body.byteLength > 0) await reader.take(response.body)
      return reader.end()
    })
  }

  async #repeat<T>(
    call: Call,
    attempt: (attempt: number, sentAt: number) => Promise<T>,
  ): Promise<T> {
    const send = (number: number): Promise<T> =>
      this.#governor.run((sentAt) => attempt(number, sentAt), number > 1)
    return pRetry(send, {
      retries: RATE_RETRIES,
      minTimeout: 0,
      maxTimeout: 0,
      shouldRetry: ({ error, attemptNumber }) =>
        mayRepeat(call, error) && attemptNumber <= allowance(error),
      onFailedAttempt: ({ error, attemptNumber }) => this.#beforeRetry(call, error, attemptNumber),
    }).catch((error: unknown) => {
      throw isRateRefusal(error) ? outOfPatience(call, error) : withDoubt(call, error)
    })
  }

  /** Resolves to a good answer. `begin`: who reads it while it comes; absent: it comes whole. */
  async #attempt(
    call: Call,
    attempt: number,
    sentAt: number,
    begin?: (head: HttpHead) => { readonly take: BodyTaker },
  ): Promise<HttpResponse> {
    let taken = 0
    const takerFor = (head: HttpHead): BodyTaker | null => {
      if (begin === undefined || !isGood(head)) return null
      const { take } = begin(head)
      return (piece) => {
        taken += piece.byteLength
        return take(piece)
      }
    }
    const response = await this.#exchange(call, sentAt, takerFor)
    this.#world.emit({
      type: 'request.finished',
      path: call.path,
      status: response.status,
      durationMs: this.#world.now() - sentAt,
      bytes: taken + response.body.byteLength,
      requestId: requestIdOf(response),
    })
    const outcome = { kind: kindOf(call), sentAt, headers: response.headers }
    if (isGood(response)) {
      this.#governor.answered({ ...outcome, health: 'well' })
      return response
    }
    const failure = failureOf(call.method, call.path, response)
    const { now, random } = this.#world
    const { waitMs, source } = waitOf(response.headers, attempt, now(), random())
    const hold = { waitMs, reason: failure.message }
    if (isRateRefusal(failure)) {
      waits.set(failure, waitMs)
      this.#governor.refused(sentAt, response.headers, hold)
      throw failure
    }
    const health = response.status === 503 ? 'overloaded' : 'faulty'
    this.#governor.answered({ ...outcome, health })
    if (response.status === 503 && source !== 'backoff') {
      waits.set(failure, waitMs)
      this.#governor.hold(hold)
    }
    throw failure
  }

  async #exchange(
    call: Call,
    sentAt: number,
    takerFor: NonNullable<HttpRequest['takerFor']>,
  ): Promise<HttpResponse> {
    try {
      return await this.#world.fetch({
        method: call.method,
        url: call.base + call.path,
        headers: {
          authorization: `Bearer ${this.#options.credential}`,
          accept: 'application/json',
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(call.body === undefined ? {} : { body: call.body }),
        timeoutMs: this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxBytes: call.maxBytes,
        signal: this.#world.hangUp,
        takerFor,
      })
    } catch (error) {
      const isLate = error instanceof TransportError && error.timedOut
      const health = isLate ? 'overloaded' : 'faulty'
      this.#governor.answered({ kind: kindOf(call), sentAt, headers: {}, health })
      throw error
    }
  }

  async #beforeRetry(call: Call, error: Error, attempt: number): Promise<void> {
    if (!mayRepeat(call, error) || attempt > allowance(error)) return
    this.#world.signal.throwIfAborted()
    const held = waits.get(error)
    const waitMs = held ?? backoffMs(attempt, this.#world.random())
    this.#world.emit({
      type: 'request.retried',
      path: call.path,
      attempt,
      reason: error.message,
      waitMs,
    })
    if (held === undefined) await this.#world.sleep(waitMs, this.#world.signal)
  }
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

/** How long the governor holds every request after a refusal, or a 503 that says how long. */
const waits = new WeakMap<Error, number>()

/** What may have been done is not done again on its own, but for what sets a value: twice is once. */
const REPEATABLE: ReadonlySet<Call['method']> = new Set(['GET', 'PUT'])

function mayRepeat(call: Call, error: unknown): boolean {
  if (!REPEATABLE.has(call.method) || !mayPass(error)) return false
  return call.isDivisible !== true || !isTooSlow(error)
}

function allowance(error: unknown): number {
  return isRateRefusal(error) ? RATE_RETRIES : RETRIES
}

function outOfPatience(call: Call, error: ApiError): DeferredError {
  const waited = REPEATABLE.has(call.method) ? `: still refused after ${RATE_RETRIES} waits` : ''
  return new DeferredError(`${error.message}${waited}`, {
    hint: REPEATABLE.has(call.method)
      ? 'What has landed is kept; the next run goes on from there.'
      : 'Nothing was done; ask again later.',
    cause: error,
  })
}

/** Of a call that does something, no whole answer does not tell that it was not done. */
function withDoubt(call: Call, error: unknown): unknown {
  if (call.method === 'GET' || !mayPass(error)) return error
  const hint = 'It is not known whether the platform did it: look before asking again.'
  return new UnknownOutcomeError(messageOf(error), { hint, cause: error })
}
