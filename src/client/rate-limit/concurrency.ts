/** How many requests may be in flight, learned: one more while all goes well, fewer when it does not. */
export interface Concurrency {
  readonly limit: number
  readonly most: number
  /** Whether the limit was reached since it was last raised. */
  readonly isTried: boolean
  readonly changedAt: number
  /** Milliseconds between two raises, at least. */
  readonly patienceMs: number
  /** By kind of request, for those differ. */
  readonly latencies: ReadonlyMap<string, Latency>
}

/** Milliseconds of an answer. */
interface Latency {
  /** The least of its running averages, forgotten slowly. */
  readonly usual: number
  readonly recent: number
}

/** The state of the server: `faulty` gives no information about its load. */
export type Health = 'well' | 'faulty' | 'overloaded'

export interface Answer {
  readonly kind: string
  readonly sentAt: number
  readonly now: number
  readonly health: Health
}

const FIRST_PATIENCE_MS = 100
const PATIENCE_MS = 1000

export function beginConcurrency(limit: number, most: number, now: number): Concurrency {
  return {
    limit: Math.min(Math.max(1, limit), most),
    most,
    isTried: false,
    changedAt: now,
    patienceMs: FIRST_PATIENCE_MS,
    latencies: new Map(),
  }
}

/** Takes in that a request was sent: `inFlight` with it. */
export function withSent(state: Concurrency, inFlight: number): Concurrency {
  return state.isTried || inFlight < state.limit ? state : { ...state, isTried: true }
}

/**
 * Takes in an answer. The limit goes up by one when it was reached and a round
 * trip went well. An overloaded server halves it, and latency far above what is
 * usual for that kind of request cuts it by a third: once for all that was in
 * flight together, and never below one.
 */
export function withAnswer(state: Concurrency, answer: Answer): Concurrency {
  const { kind, now, sentAt, health } = answer
  const isCounted = sentAt >= state.changedAt
  if (health === 'overloaded') return isCounted ? cut(state, 1 / 2, now) : state
  if (health === 'faulty') return state
  const latency = withLatency(state.latencies.get(kind), now - sentAt)
  const next = { ...state, latencies: new Map(state.latencies).set(kind, latency) }
  if (isClimbing(latency)) return isCounted ? cut(next, 2 / 3, now) : next
  const patience = Math.max(latency.recent, state.patienceMs)
  const isDue = state.isTried && now - state.changedAt >= patience
  if (!isDue || state.limit >= state.most) return next
  return { ...next, limit: state.limit + 1, changedAt: now, isTried: false }
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

function cut(state: Concurrency, factor: number, now: number): Concurrency {
  return {
    ...state,
    limit: Math.max(1, Math.floor(state.limit * factor)),
    isTried: false,
    changedAt: now,
    patienceMs: PATIENCE_MS,
    latencies: new Map(
      [...state.latencies].map(([kind, { usual }]) => [kind, { usual, recent: usual }]),
    ),
  }
}
