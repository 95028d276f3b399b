import { setMaxListeners } from 'node:events'
import { ApiClient, type ClientOptions } from './client.ts'
import { addressOf } from '../lib/trust.ts'
import { AppError, UsageError } from '../lib/errors.ts'
import type { Learned } from '../lib/learned.ts'
import { checkAboveZero, checkWhole } from '../lib/numbers.ts'
import { createNodeWorld, proxyOf } from './http/node-world.ts'

/** The platform's addresses, the key, and limits for the requests of a client. */
export interface PlatformClientOptions extends Pick<
  ClientOptions,
  'baseUrl' | 'credential' | 'learned'
> {
  /** The time limit of one complete response, in milliseconds. @default 120000 */
  readonly timeoutMs?: number | undefined
  /**
   * The web application host, e.g. `https://app.example.com`, which serves readiness reports.
   * Empty counts as not set.
   */
  readonly appUrl?: string | undefined
  /** The highest rate in requests a second; lower if the platform limits it. @default 1000 */
  readonly rate?: number | undefined
  /** The highest number of requests in flight; lower if the platform limits it. @default 8 */
  readonly concurrency?: number | undefined
  /**
   * Milliseconds since the epoch. No call lasts longer, and one that a rate limit would delay
   * beyond it throws a DeferredError at once. @default Infinity
   */
  readonly deadline?: number | undefined
  /**
   * When it aborts, no request begins and those in progress end. Calls throw its reason; a change
   * that was in progress throws an UnknownOutcomeError.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * The platform's public API, typed, over the real network and the proxy of the environment.
 * Waits for rate limits, and retries only what is safe to retry (GET and PUT).
 */
export class PlatformClient extends ApiClient {
  /**
   * Closes the connections when requests in progress are answered, so that a script can end.
   * Calls that wait, and later ones, throw an AppError at once. May be called again.
   */
  readonly close: () => Promise<void>

  /**
   * @throws UsageError for an address that a key may not be sent to (https only;
   *   plain http on loopback), an invalid credential, a number out of bounds, an invalid
   *   proxy, and if certificates would not be checked.
   */
  constructor(options: PlatformClientOptions) {
    if (!isKey(options.credential)) {
      const problem = 'is empty, or contains characters that a key cannot contain'
      const isLine = /\n$/.test(options.credential)
      const hint = isLine ? 'Remove the line break that ends a key from a file.' : undefined
      throw new UsageError(`the credential ${problem}`, { hint })
    }
    const { baseUrl, appUrl, timeoutMs, learned, signal } = options
    const { rate = 1000, concurrency = 8, deadline = Infinity } = options
    checkAboveZero('rate', rate)
    checkAboveZero('deadline', deadline)
    if (timeoutMs !== undefined) checkAboveZero('timeoutMs', timeoutMs)
    checkWhole('concurrency', concurrency, 1)
    if (learned !== undefined) checkLearned(learned)
    const end = signal ?? new AbortController().signal
    const closed = new AbortController()
    const stop = AbortSignal.any([end, closed.signal])
    setMaxListeners(0, end, stop) // one listener for each request
    const ends = { emit: () => undefined, signal: stop, hangUp: end }
    const { world, close } = createNodeWorld(ends, undefined, proxyOf())
    super(
      {
        credential: options.credential,
        rate,
        concurrency,
        deadline,
        timeoutMs,
        learned,
        baseUrl: addressOf(baseUrl, 'baseUrl', 'For example https://api.example.com.'),
        appUrl:
          appUrl === undefined || appUrl === ''
            ? undefined
            : addressOf(appUrl, 'appUrl', 'For example https://app.example.com.'),
      },
      world,
    )
    let closing: Promise<void> | undefined
    this.close = () => {
      const hint = 'Await every call before close(), or make another client.'
      closed.abort(new AppError('the client is closed and sends no more requests', { hint }))
      return (closing ??= close())
    }
  }
}

/** It may come from a file. */
function checkLearned({ limit, concurrency }: Learned): void {
  checkWhole('learned.concurrency', concurrency, 1)
  if (limit === null) return
  checkAboveZero('learned.limit.rate', limit.rate)
  checkAboveZero('learned.limit.burst', limit.burst)
  checkAboveZero('learned.limit.measuredAt', limit.measuredAt)
}

/** Plain JavaScript may give a variable of the environment that is not set. */
function isKey(credential: unknown): boolean {
  return typeof credential === 'string' && /^[\x21-\x7e]+$/.test(credential)
}
