import pRetry from 'p-retry'
import { DeferredError, messageOf } from '../../lib/errors.ts'
import { KnownSecrets } from '../../lib/secrets/known-secrets.ts'
import type { Learned } from '../../lib/learned.ts'
import type { BodyTaker, HttpHead, HttpRequest, HttpResponse, World } from '../../lib/world.ts'
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
  readonly body?: string | undefined
  /** The caller asks for less when this takes too long, so that it is not repeated as it is. */
  readonly isDivisible?: boolean
}

/** Reads one answer while it comes. */
export interface AnswerReader<T> {
  /** False when no more is wanted: `end` says why. */
  readonly take: BodyTaker
  /** What the answer means, after its last piece. A BodyError that it throws is retried, as an answer that was cut off. */
  readonly end: () => T | Promise<T>
}

type ReaderFor<T> = (head: HttpHead, requestId: string | null) => AnswerReader<T>

const DEFAULT_TIMEOUT_MS = 120_000

/** Sends requests with the credential, through the governor, repeating what may be repeated. */
export class Transport {
  readonly #options: TransportOptions
  readonly #world: World
  readonly #governor: Governor
  /** Whatever the platform answers is without the credential before anything reads it. */
  readonly #secrets: KnownSecrets

  constructor(options: TransportOptions, world: World) {
    this.#options = options
    this.#world = world
    this.#governor = new Governor(options, world)
    this.#secrets = new KnownSecrets([options.credential])
  }

  /** What the next run may begin with. */
  learned(): Learned {
    return this.#governor.learned()
  }

  /** Sends one request and hands its whole answer to `read`; throws what `stream` throws. */
  call<T>(call: Call, read: (response: HttpResponse, requestId: string | null) => T): Promise<T> {
    return this.stream(call, (head, requestId) => {
      const pieces: Uint8Array[] = []
      return {
        take: (piece) => Promise.resolve(pieces.push(piece) > 0),
        end: () => read({ ...head, body: Buffer.concat(pieces) }, requestId),
      }
    })
  }

  /**
   * Sends one request whose answer is read while it comes. An answer that is cut off and
   * asked for again has a reader of its own.
   *
   * @throws RefusedError (401, 403), ApiError, TransportError, BodyTooLargeError,
   *   BodyError, and DeferredError when waiting would outlast the run. After
   *   `world.signal` no request begins and none is repeated; one that is under
   *   way is awaited, and its answer is good.
   */
  async stream<T>(call: Call, readerFor: ReaderFor<T>): Promise<T> {
    const budget = new RetryBudget()
    let fault: Error | undefined
    const send = (attempt: number): Promise<T> =>
      this.#governor.run(
        (sentAt) => this.#attempt(call, readerFor, budget.nextWait, sentAt),
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
      throw isRateRefusal(error) ? toDeferred(call, error) : toUnknownOutcome(call, error, fault)
    })
  }

  /** `nextWait`: which wait of this request a refusal for rate would lead to, from 1. */
  async #attempt<T>(
    call: Call,
    readerFor: ReaderFor<T>,
    nextWait: number,
    sentAt: number,
  ): Promise<T> {
    const answer: { reader?: AnswerReader<T>; bytes: number } = { bytes: 0 }
    const begin = (head: HttpHead): AnswerReader<T> =>
      (answer.reader = filtered(readerFor(head, requestIdOf(head)), this.#secrets))
    const response = await this.#exchange(call, sentAt, (head) => {
      if (!isGood(head)) return null
      const { take } = begin(withoutSecrets(head, this.#secrets))
      return (piece) => {
        answer.bytes += piece.byteLength
        return take(piece)
      }
    })
    const { status, headers, body } = response
    this.#world.emit({
      type: 'request.finished',
      path: withoutCursors(call.path),
      status,
      durationMs: this.#world.now() - sentAt,
      bytes: answer.bytes + body.byteLength,
      requestId: requestIdOf(response),
    })
    const outcome = { kind: kindOf(call), sentAt, headers }
    if (isGood(response)) {
      this.#governor.answered({ ...outcome, health: 'well' })
      const reader = answer.reader ?? begin(response)
      if (body.byteLength > 0) await reader.take(body)
      return reader.end()
    }
    const failure = failureOf(call.method, call.path, response)
    const { waitMs, source } = waitOf(headers, nextWait, this.#world.now(), this.#world.random())
    const isRefused = isRateRefusal(failure)
    const isOverloaded = status === 503
    const isRequested = isRefused || (isOverloaded && source !== 'backoff')
    if (isRequested) waits.set(failure, waitMs)
    this.#governor.answered({
      ...outcome,
      health: isRefused ? 'refused' : isOverloaded ? 'overloaded' : 'faulty',
      ...(isRequested ? { hold: { waitMs, reason: failure.message } } : {}),
    })
    throw failure
  }

  async #exchange(
    call: Call,
    sentAt: number,
    takerFor: NonNullable<HttpRequest['takerFor']>,
  ): Promise<HttpResponse> {
    const { deadline, timeoutMs: patienceMs = DEFAULT_TIMEOUT_MS } = this.#options
    const timeoutMs = Math.ceil(Math.min(patienceMs, deadline - sentAt))
    try {
      const response = await this.#world.fetch({
        method: call.method,
        url: call.base + call.path,
        headers: {
          authorization: `Bearer ${this.#options.credential}`,
          accept: 'application/json',
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: call.body,
        timeoutMs,
        maxBytes: call.maxBytes,
        signal: this.#world.hangUp,
        takerFor,
      })
      const head = withoutSecrets(response, this.#secrets)
      return { ...head, body: isGood(head) ? response.body : this.#errorBody(response.body) }
    } catch (error) {
      this.#secrets.error(error)
      const isLate = error instanceof TransportError && error.timedOut
      const isCut = isLate && timeoutMs < patienceMs
      const health = isLate && !isCut ? 'overloaded' : 'faulty'
      this.#governor.answered({ kind: kindOf(call), sentAt, headers: {}, health })
      throw isCut && call.method === 'GET' ? outOfTime(error) : error
    }
  }

  /** An error may quote a part of the credential, and is read by people alone. */
  #errorBody(body: Uint8Array): Uint8Array {
    if (body.byteLength > MAX_PROBLEM_BYTES) return new Uint8Array()
    return Buffer.from(this.#secrets.message(Buffer.from(body).toString('utf8')))
  }

  /** `count`: which wait, or which fault, of this request it was. */
  async #beforeRetry(call: Call, error: Error, attempt: number, count: number): Promise<void> {
    this.#world.signal.throwIfAborted()
    const requestedMs = waits.get(error)
    const waitMs = requestedMs ?? backoffMs(count, this.#world.random())
    const path = withoutCursors(call.path)
    this.#world.emit({ type: 'request.retried', path, attempt, reason: error.message, waitMs })
    if (requestedMs !== undefined) return // the governor holds every request for so long
    if (this.#world.now() + waitMs >= this.#options.deadline) throw outOfTime(error)
    await this.#world.sleep(waitMs, this.#world.signal)
  }
}

function withoutSecrets({ status, headers }: HttpHead, secrets: KnownSecrets): HttpHead {
  const clean = Object.entries(headers).map(
    ([name, value]) => [secrets.message(name), secrets.message(value)] as const,
  )
  return { status, headers: Object.fromEntries(clean) }
}

/** The reader, given what comes without the secrets. */
function filtered<T>(reader: AnswerReader<T>, secrets: KnownSecrets): AnswerReader<T> {
  const filter = secrets.stream()
  return {
    take: async (piece) => {
      const clean = filter.write(piece)
      return clean.byteLength === 0 || (await reader.take(clean))
    },
    end: async () => {
      const rest = filter.end()
      if (rest.byteLength > 0) await reader.take(rest)
      return reader.end()
    },
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

/** Methods that are safe to repeat after an unclear failure: GET changes nothing, and PUT sets the same value again. */
const REPEATABLE: ReadonlySet<Call['method']> = new Set(['GET', 'PUT'])

function mayRepeat(call: Call, error: unknown): boolean {
  if (!REPEATABLE.has(call.method) || !mayPass(error)) return false
  return call.isDivisible !== true || !isTooSlow(error)
}

function toDeferred({ method }: Call, error: ApiError): DeferredError {
  if (REPEATABLE.has(method)) {
    return deferral(`${error.message}: still refused after ${RATE_RETRIES} waits`, error)
  }
  const hint = 'Nothing was done; ask again later.'
  return new DeferredError(error.message, { hint, cause: error })
}

/**
 * Of a call that changes something, no whole answer does not mean that nothing was
 * changed; `fault`: the last failure of that kind, which a deferral may have followed.
 */
function toUnknownOutcome(call: Call, error: unknown, fault: Error | undefined): unknown {
  const cause = error instanceof DeferredError ? fault : error
  if (call.method === 'GET' || !mayPass(cause)) return error
  const hint = 'It is not known whether the platform did it: check before you repeat the command.'
  return new UnknownOutcomeError(messageOf(cause), { hint, cause })
}
