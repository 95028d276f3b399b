import pRetry from 'p-retry'
import { DeferredError, messageOf } from '../../lib/errors.ts'
import { KnownSecrets } from '../../lib/secrets/known-secrets.ts'
import type { Learned } from '../../lib/learned.ts'
import type { BodyTaker, HttpHead, HttpRequest, HttpResponse, World } from '../../lib/world.ts'
import {
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
  readonly body?: string
  /** The caller asks for less when this takes too long, so that it is not repeated as it is. */
  readonly isDivisible?: boolean
}

/** What an answer means, decided inside the retry loop so that a cut-off body is asked for again. */
export type Reader<T> = (response: HttpResponse, requestId: string | null) => T

/** Reads one answer while it comes. */
export interface StreamReader<T> {
  /** False when no more is wanted: `end` says why. */
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

  /**
   * @throws RefusedError (401, 403), ApiError, TransportError, BodyTooLargeError,
   *   BodyError, and DeferredError when waiting would outlast the run. After
   *   `world.signal` no request begins and none is repeated; one that is under
   *   way is awaited, and its answer is good.
   */
  async call<T>(call: Call, read: Reader<T>): Promise<T> {
    return this.#repeat(call, async (budget, sentAt) => {
      const response = await this.#attempt(call, budget, sentAt)
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
    return this.#repeat(call, async (budget, sentAt) => {
      const begun: StreamReader<T>[] = []
      const begin = (head: HttpHead): StreamReader<T> => {
        const reader = filtered(readerFor(head, requestIdOf(head)), this.#secrets)
        begun.push(reader)
        return reader
      }
      const response = await this.#attempt(call, budget, sentAt, begin)
      const [reader = begin(response)] = begun
      if (response.body.byteLength > 0) await reader.take(response.body)
      return reader.end()
    })
  }

  async #repeat<T>(
    call: Call,
    attempt: (budget: RetryBudget, sentAt: number) => Promise<T>,
  ): Promise<T> {
    const budget = new RetryBudget()
    let isLeft = true
    let fault: Error | undefined
    const send = (number: number): Promise<T> =>
      this.#governor.run((sentAt) => attempt(budget, sentAt), number > 1)
    return pRetry(send, {
      retries: RATE_RETRIES + RETRIES,
      minTimeout: 0,
      maxTimeout: 0,
      onFailedAttempt: async ({ error, attemptNumber }) => {
        const count = mayRepeat(call, error) ? budget.spend(error) : null
        isLeft = count !== null
        if (mayPass(error) && !isRateRefusal(error)) fault = error
        if (count !== null) await this.#beforeRetry(call, error, attemptNumber, count)
      },
      shouldRetry: () => isLeft,
    }).catch((error: unknown) => {
      throw isRateRefusal(error) ? toDeferred(call, error) : toUnknownOutcome(call, error, fault)
    })
  }

  /** Resolves to a good answer. `begin`: who reads it while it comes; absent: it comes whole. */
  async #attempt(
    call: Call,
    budget: RetryBudget,
    sentAt: number,
    begin?: (head: HttpHead) => { readonly take: BodyTaker },
  ): Promise<HttpResponse> {
    let taken = 0
    const takerFor = (head: HttpHead): BodyTaker | null => {
      if (begin === undefined || !isGood(head)) return null
      const { take } = begin(withoutSecrets(head, this.#secrets))
      return (piece) => {
        taken += piece.byteLength
        return take(piece)
      }
    }
    const response = await this.#exchange(call, sentAt, takerFor)
    this.#world.emit({
      type: 'request.finished',
      path: withoutCursors(call.path),
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
    const { waitMs, source } = waitOf(response.headers, budget.nextWait, now(), random())
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
        ...(call.body === undefined ? {} : { body: call.body }),
        timeoutMs,
        maxBytes: call.maxBytes,
        signal: this.#world.hangUp,
        takerFor,
      })
      return { ...withoutSecrets(response, this.#secrets), body: this.#bodyOf(response) }
    } catch (error) {
      this.#secrets.error(error)
      const isLate = error instanceof TransportError && error.timedOut
      const isCut = isLate && timeoutMs < patienceMs
      const health = isLate && !isCut ? 'overloaded' : 'faulty'
      this.#governor.answered({ kind: kindOf(call), sentAt, headers: {}, health })
      throw isCut && call.method === 'GET' ? outOfTime({ cause: error }) : error
    }
  }

  /** An error may quote a part of the credential, and is read by people alone. */
  #bodyOf(response: HttpResponse): Uint8Array {
    if (isGood(response)) return this.#secrets.bytes(response.body)
    if (response.body.byteLength > MAX_PROBLEM_BYTES) return new Uint8Array()
    return Buffer.from(this.#secrets.message(Buffer.from(response.body).toString('utf8')))
  }

  /** `count`: which wait, or which fault, of this request it was. */
  async #beforeRetry(call: Call, error: Error, attempt: number, count: number): Promise<void> {
    this.#world.signal.throwIfAborted()
    const held = waits.get(error)
    const waitMs = held ?? backoffMs(count, this.#world.random())
    const path = withoutCursors(call.path)
    this.#world.emit({ type: 'request.retried', path, attempt, reason: error.message, waitMs })
    if (held !== undefined) return // by the governor, as every request is
    if (this.#world.now() + waitMs >= this.#options.deadline) throw outOfTime({ cause: error })
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
function filtered<T>(reader: StreamReader<T>, secrets: KnownSecrets): StreamReader<T> {
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

/** What may have been done is not done again on its own, but for what sets a value: twice is once. */
const REPEATABLE: ReadonlySet<Call['method']> = new Set(['GET', 'PUT'])

function mayRepeat(call: Call, error: unknown): boolean {
  if (!REPEATABLE.has(call.method) || !mayPass(error)) return false
  return call.isDivisible !== true || !isTooSlow(error)
}

function toDeferred(call: Call, error: ApiError): DeferredError {
  const waited = REPEATABLE.has(call.method) ? `: still refused after ${RATE_RETRIES} waits` : ''
  return new DeferredError(`${error.message}${waited}`, {
    hint: REPEATABLE.has(call.method)
      ? 'What has landed is kept; the next run goes on from there.'
      : 'Nothing was done; ask again later.',
    cause: error,
  })
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
