/** Milliseconds of an answer. */
interface Latency {
  /** The least of its running averages, forgotten slowly. */
  readonly usual: number
  readonly recent: number
}

/** The state of the server: `faulty` gives no information about its load. */
export type Health = 'well' | 'faulty' | 'overloaded'

/** An answer to a request of that kind. */
export interface Answer {
  readonly kind: string
  readonly sentAt: number
  readonly now: number
  readonly health: Health
}

/** Milliseconds between two raises at least: at first, and after the limit was cut. */
const FIRST_PATIENCE_MS = 100
const PATIENCE_MS = 1000

/** How many requests may be in flight, learned: one more while all goes well, fewer when it does not. */
export class Concurrency {
  readonly #most: number
  #limit: number
  /** Whether the limit was reached since it was last raised. */
  #isTried = false
  #changedAt: number
  #patienceMs = FIRST_PATIENCE_MS
  /** By kind of request, for those differ. */
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
   * Takes in an answer. The limit goes up by one when it was reached and a round
   * trip went well. An overloaded server halves it, and latency far above what is
   * usual for that kind of request cuts it by a third: once for all that was in
   * flight together, and never below one.
   */
  answered({ kind, now, sentAt, health }: Answer): void {
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
/** A smaller rise does no harm. */
const NOTICEABLE_MS = 100

function isClimbing({ recent, usual }: Latency): boolean {
  return recent > usual * CLIMB && recent > usual + NOTICEABLE_MS
}
