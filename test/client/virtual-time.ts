import { setMaxListeners } from 'node:events'
import { setImmediate as settled } from 'node:timers/promises'
import type { RunEvent } from '../../src/lib/events.ts'
import type { HttpRequest, HttpResponse, World } from '../../src/lib/world.ts'

export type Answer = Pick<HttpResponse, 'status' | 'headers'>

/** The response of a server to a request that arrives at `now` as one of `inFlight`. */
export type Server = (now: number, inFlight: number) => Answer

export interface VirtualOptions {
  /** Milliseconds from sending to the response; half of it before the request arrives. */
  readonly latencyMs: (inFlight: number) => number
  /** Milliseconds until the connection is open, which delay the first request. */
  readonly connectMs?: number
  readonly seed?: number
  readonly startsAt?: number
  /** Milliseconds that pass with each reading of the clock: work takes time, too. */
  readonly clockReadMs?: number
}

export interface Sent {
  readonly at: number
  readonly url: string
  readonly status: number
  /** This one included. */
  readonly inFlight: number
}

/**
 * A world in which waiting takes no time: the clock jumps from one thing that is
 * due to the next, and timers are up to a millisecond late, as real ones are.
 */
export class VirtualTime {
  readonly world: World
  readonly sent: Sent[] = []
  readonly events: RunEvent[] = []
  readonly stop = new AbortController()
  #now: number
  #inFlight = 0
  #isConnected = false
  readonly #due: { at: number; go: () => void }[] = []
  #random: number

  constructor(server: Server, options: VirtualOptions) {
    this.#now = options.startsAt ?? Date.parse('2026-03-10T06:00:00.123Z')
    this.#random = options.seed ?? 1
    setMaxListeners(0, this.stop.signal)
    this.world = {
      fetch: (request) => this.#exchange(request, server, options),
      now: () => Math.floor((this.#now += options.clockReadMs ?? 0)),
      sleep: (ms, signal) => this.#sleep(Math.max(1, ms) + this.#chance(), signal),
      random: () => this.#chance(),
      emit: (event) => this.events.push(event),
      signal: this.stop.signal,
      hangUp: this.stop.signal,
    }
  }

  /** Lets time pass until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    const state = { isOver: false }
    const over = (): void => {
      state.isOver = true
    }
    work.then(over, over)
    await settled()
    while (!state.isOver) {
      const next = this.#due.shift()
      if (next === undefined) throw new Error('nothing is due, and the work is not done')
      this.#now = Math.max(this.#now, next.at)
      next.go()
      await settled()
    }
    return work
  }

  async #exchange(
    request: HttpRequest,
    server: Server,
    { latencyMs, connectMs = 0 }: VirtualOptions,
  ): Promise<HttpResponse> {
    this.#inFlight += 1
    const inFlight = this.#inFlight
    const half = (latencyMs(inFlight) * (0.8 + 0.4 * this.#chance())) / 2
    const at = this.world.now()
    await this.#sleep(half + (this.#isConnected ? 0 : connectMs))
    this.#isConnected = true
    const answer = server(this.#now, inFlight)
    await this.#sleep(half)
    this.#inFlight -= 1
    this.sent.push({ at, url: request.url, status: answer.status, inFlight })
    return { ...answer, body: [new TextEncoder().encode('{"data":[],"meta":{}}')] }
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = { at: this.#now + ms, go: resolve }
      const place = this.#due.findIndex(({ at }) => at > timer.at)
      this.#due.splice(place < 0 ? this.#due.length : place, 0, timer)
      signal?.addEventListener(
        'abort',
        () => {
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
        },
        { once: true },
      )
    })
  }

  /** A seeded number in [0, 1). */
  #chance(): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2_147_483_648
    return this.#random / 2_147_483_648
  }
}
