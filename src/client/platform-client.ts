import { setMaxListeners } from 'node:events'
import { ApiClient, type ClientOptions } from './client.ts'
import { addressOf } from '../lib/trust.ts'
import { UsageError } from '../lib/errors.ts'
import { createNodeWorld } from './http/client.ts'

export interface PlatformClientOptions extends Pick<
  ClientOptions,
  'baseUrl' | 'credential' | 'timeoutMs'
> {
  /** The web application host, e.g. `https://app.example.com`: readiness reports are there. */
  readonly appUrl?: string | undefined
  /** Requests a second, at most; fewer where the platform says so. @default 1000 */
  readonly rate?: number
  /** Requests in flight, at most; fewer where the platform says so. @default 8 */
  readonly concurrency?: number
  /**
   * Milliseconds since the epoch. A wait that the platform asks for and that would
   * go beyond is a DeferredError at once. @default Infinity
   */
  readonly deadline?: number
  /** Aborted: nothing more is asked for, and requests under way end. */
  readonly signal?: AbortSignal
}

const DEFAULTS = { rate: 1000, concurrency: 8, deadline: Infinity }

/**
 * The platform's public API, typed, over the real network. Waits for rate limits,
 * repeats what is safe to repeat (GET and PUT), and nothing else.
 */
export class PlatformClient extends ApiClient {
  readonly #close: () => Promise<void>

  /**
   * @throws UsageError for an address that a key may not be sent to (https only;
   *   plain http on loopback), or a credential that cannot be one.
   */
  constructor({ signal, ...options }: PlatformClientOptions) {
    if (!/^[\x21-\x7e]+$/.test(options.credential)) {
      throw new UsageError('the credential is empty, or has characters that no key has')
    }
    const { baseUrl, appUrl, ...rest } = options
    const end = signal ?? new AbortController().signal
    setMaxListeners(0, end) // one listener for each request
    const { world, close } = createNodeWorld({ emit: () => undefined, signal: end, hangUp: end })
    super(
      {
        ...DEFAULTS,
        ...rest,
        baseUrl: addressOf(baseUrl, 'baseUrl', 'For example https://api.example.com.'),
        ...(appUrl === undefined
          ? {}
          : { appUrl: addressOf(appUrl, 'appUrl', 'For example https://app.example.com.') }),
      },
      world,
    )
    this.#close = close
  }

  /** Ends the connections, once requests under way are answered: a script then ends at once. */
  close(): Promise<void> {
    return this.#close()
  }
}
