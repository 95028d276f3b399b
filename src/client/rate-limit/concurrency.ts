/** Running averages of the time to a response, in milliseconds. */
interface Latency {
  /** The lowest recent average; it rises slowly. */
  readonly usual: number
  readonly recent: number
}

/** The state of the server: `faulty` gives no information about its load. */
export type Health = 'well' | 'faulty' | 'overloaded'

interface RoundTrip {
  readonly kind: string
  readonly sentAt: number
  readonly now: number
  readonly health: Health
}

/** The minimum time between two raises: at first, and after the limit was cut. */
const FIRST_PATIENCE_MS = 100
const PATIENCE_MS = 1000

/** Learns how many requests may be in flight: one more while responses come well, fewer when they do not. */
export class Concurrency {
  readonly #most: number
  #limit: number
  /** Whether the limit was reached since it was last raised. */
  #isTried = false
  #changedAt: number
  #patienceMs = FIRST_PATIENCE_MS
  /** By kind of request. */
  readonly #latencies = new Map<string, Latency>()

  constructor(limit: number, most: number, now: number) {
    this.#limit = Math.min(Math.max(1, limit), most)
    this.#most = most
    this.#changedAt = now
  }

  get limit(): number {
    return this.#limit
  }

  sent(inFlight: number): void {
    if (inFlight >= this.#limit) this.#isTried = true
  }

  /**
   * Raises the limit by one if it was reached and a round trip went well. An
   * overloaded server halves it, and latency far above the usual one of that kind of
   * request cuts it by a third: once for all requests that were in flight together,
   * and never below one.
   */
  answered({ kind, now, sentAt, health }: RoundTrip): void {
    const isCounted = sentAt >= this.#changedAt
    if (health === 'overloaded' && isCounted) this.#cut(1 / 2, now)
    if (health !== 'well') return
    const latency = withLatency(this.#latencies.get(kind), now - sentAt)
    this.#latencies.set(kind, latency)
    if (isClimbing(latency)) {
      if (isCounted) this.#cut(2 / 3, now)
      return
    }
    const patience = Math.max(latency.recent, this.#patienceMs)
    if (!this.#isTried || this.#limit >= this.#most || now - this.#changedAt < patience) return
    this.#change(this.#limit + 1, now)
  }

  #cut(factor: number, now: number): void {
    this.#change(Math.max(1, Math.floor(this.#limit * factor)), now)
    this.#patienceMs = PATIENCE_MS
    for (const [kind, { usual }] of this.#latencies) {
      this.#latencies.set(kind, { usual, recent: usual })
    }
  }

  #change(limit: number, now: number): void {
    this.#limit = limit
    this.#changedAt = now
    this.#isTried = false
  }
}

const SMOOTHING = 0.2
const FORGETTING = 1.001

function withLatency(before: Latency | undefined, ms: number): Latency {
  if (before === undefined) return { usual: ms, recent: ms }
  const recent = before.recent + SMOOTHING * (ms - before.recent)
  return { recent, usual: Math.min(recent, before.usual * FORGETTING) }
}

const CLIMB = 2.5
/** A smaller rise is noise. */
const NOTICEABLE_MS = 100

function isClimbing({ recent, usual }: Latency): boolean {
  return recent > usual * CLIMB && recent > usual + NOTICEABLE_MS
}
