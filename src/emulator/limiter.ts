export interface LimiterOptions {
  /** Requests per second that a credential may make for ever. */
  readonly rate: number
  /** Requests that a rested credential may make at once. */
  readonly burst: number
  /** Milliseconds since the epoch. A clock that stands still never refills. */
  readonly now: () => number
}

/** Takes one request of a holder: 0 when it may pass, else the milliseconds until one may. */
export type Limiter = (holder: string) => number

interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** A token bucket per holder; a refused request takes no token. */
export function createLimiter({ rate, burst, now }: LimiterOptions): Limiter {
  const buckets = new Map<string, Bucket>()
  return (holder) => {
    const at = now()
    const before = buckets.get(holder) ?? { tokens: burst, at }
    const refill = (Math.max(0, at - before.at) / 1000) * rate
    const tokens = Math.min(burst, before.tokens + refill)
    const passes = tokens >= 1
    buckets.set(holder, { tokens: passes ? tokens - 1 : tokens, at })
    return passes ? 0 : ((1 - tokens) / rate) * 1000
  }
}
