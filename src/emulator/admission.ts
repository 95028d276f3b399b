import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { forbidden, type Env } from './requests.ts'

const ROLES = ['owner', 'manager', 'member', 'guest'] as const

/** Roles of an organisation's people; analytics answer owners and managers only. */
export type Role = (typeof ROLES)[number]

export type Keys = Readonly<Record<Role, string>>

/** The keys of an organisation of the platform, counted from 1: those of others end with its number. */
export function keysOf(organisation: number): Keys {
  const end = organisation === 1 ? '' : `-${organisation}`
  const keyOf = (role: Role): string => `demo-${role}-key${end}`
  return {
    owner: keyOf('owner'),
    manager: keyOf('manager'),
    member: keyOf('member'),
    guest: keyOf('guest'),
  }
}

/** The fixed keys of the stand-in platform. */
export const DEFAULT_KEYS: Keys = keysOf(1)

/** The number of the organisation in an `authorization` header, which the platform may not have. */
export function organisationOf(authorization: string | null): number {
  return Number(/-key-(\d{1,6})$/.exec(authorization ?? '')?.[1] ?? 1)
}

/** The role behind `Authorization: Bearer <key>`; null for a missing or unknown credential. */
export function roleOf(context: Context<Env>): Role | null {
  const key = /^bearer +(\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1]
  const keys = keysOf(context.env.organisation)
  return ROLES.find((role) => keys[role] === key) ?? null
}

/**
 * Allows owners and managers: for analytics (Authentication, rule 3 of the API) and
 * for setting limits of credits, which the API leaves open.
 * @throws HTTPException 403 for members and guests; `what` begins the message.
 */
export function mustManage(context: Context<Env>, what: string): void {
  const role = roleOf(context)
  if (role === 'owner' || role === 'manager') return
  throw forbidden(`${what} the role owner or manager, not ${role}`)
}

/** Refuses a request without a known credential. @throws HTTPException 401. */
export function mustBeKnown(context: Context<Env>): Role {
  const role = roleOf(context)
  if (role !== null) return role
  context.header('www-authenticate', 'Bearer')
  throw new HTTPException(401, { message: 'the bearer credential is missing or unknown' })
}

export interface RateLimit {
  /** Sustained requests a second of a credential. */
  readonly rate: number
  /** Requests at once after a rest. */
  readonly burst: number
  /** Milliseconds since the epoch. A clock that stands still never refills. */
  readonly now: () => number
}

/** A token bucket per role; a refused request takes no token and is answered with 429. */
export function createLimiter({ rate, burst, now }: RateLimit) {
  const buckets = new Map<Role, { readonly tokens: number; readonly at: number }>()
  return (context: Context<Env>, role: Role): void => {
    const at = now()
    const before = buckets.get(role) ?? { tokens: burst, at }
    const refill = (Math.max(0, at - before.at) / 1000) * rate
    const tokens = Math.min(burst, before.tokens + refill)
    buckets.set(role, { tokens: tokens >= 1 ? tokens - 1 : tokens, at })
    if (tokens >= 1) return
    context.header('retry-after', `${Math.ceil((1 - tokens) / rate)}`)
    throw new HTTPException(429, { message: 'the rate limit of this credential' })
  }
}
