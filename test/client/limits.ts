import type { Answer, Server } from './virtual-time.ts'

export const STYLES = [
  'retry-after',
  'ratelimit',
  'ratelimit-07',
  'x-delta',
  'x-epoch',
  'none',
] as const
export type Style = (typeof STYLES)[number]

/** What a limit allows after the current request. */
interface State {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetMs: number
  /** Until the next request may pass. */
  readonly waitMs: number
}

/** A token bucket: `rate` requests a second, `burst` at once after a pause. */
export function bucketServer(
  rate: number | ((now: number) => number),
  burst: number,
  style: Style,
): Server {
  let tokens = burst
  let at: number | undefined
  return (now) => {
    const perSecond = typeof rate === 'number' ? rate : rate(now)
    tokens = Math.min(burst, tokens + ((now - (at ?? now)) * perSecond) / 1000)
    at = now
    const isAllowed = tokens >= 1
    if (isAllowed) tokens -= 1
    return answer(style, now, {
      isAllowed,
      limit: burst,
      remaining: Math.floor(tokens),
      resetMs: ((burst - tokens) / perSecond) * 1000,
      waitMs: (Math.max(0, 1 - tokens) / perSecond) * 1000,
    })
  }
}

/** `limit` requests in each fixed window of the clock. */
export function windowServer(limit: number, windowMs: number, style: Style): Server {
  let window = -1
  let count = 0
  return (now) => {
    const current = Math.floor(now / windowMs)
    if (current !== window) count = 0
    window = current
    const isAllowed = count < limit
    if (isAllowed) count += 1
    const resetMs = (current + 1) * windowMs - now
    return answer(style, now, {
      isAllowed,
      limit,
      remaining: limit - count,
      resetMs,
      waitMs: resetMs,
    })
  }
}

function answer(style: Style, now: number, state: State): Answer {
  const headers = { date: new Date(now).toUTCString(), ...headersOf(style, now, state) }
  return { status: state.isAllowed ? 200 : 429, headers }
}

function headersOf(style: Style, now: number, state: State): Record<string, string> {
  const { isAllowed, limit, remaining, resetMs, waitMs } = state
  const reset = Math.ceil(resetMs / 1000)
  switch (style) {
    case 'none':
      return {}
    case 'retry-after':
      return isAllowed ? {} : { 'retry-after': `${Math.ceil(waitMs / 1000)}` }
    case 'ratelimit':
      return {
        'ratelimit-policy': `"default";q=${limit};w=${reset}`,
        ratelimit: `"default";r=${remaining};t=${reset}`,
      }
    case 'ratelimit-07':
      return { ratelimit: `limit=${limit}, remaining=${remaining}, reset=${reset}` }
    case 'x-delta':
    case 'x-epoch': {
      const epoch = Math.ceil((now + resetMs) / 1000)
      return {
        'x-ratelimit-limit': `${limit}`,
        'x-ratelimit-remaining': `${remaining}`,
        'x-ratelimit-reset': `${style === 'x-epoch' ? epoch : reset}`,
      }
    }
  }
}
