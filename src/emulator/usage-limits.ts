import { z } from 'zod'
import { dayOf, daysBetween } from '../lib/days.ts'
import type { Organisation } from './organisation.ts'
import { emailJsonOn } from './people.ts'

const limit = z.number().refine(Number.isInteger).min(0).nullable()

/** Body of the global limit. */
export const globalLimitBody = z.strictObject({
  limit: z.number().refine(Number.isInteger).min(1_000_000).nullable(),
})

/** Body of the limits of users. */
export const userLimitsBody = z.strictObject({
  users: z
    .array(z.strictObject({ email: z.string(), limit }))
    .min(1)
    .max(100),
})

interface UserLimit {
  readonly email: string
  readonly limit: number | null
}

export type UsageLimits = ReturnType<typeof createUsageLimits>

/**
 * Limits of credits, held as long as the platform runs. What is not set by a request
 * changes by itself now and then: someone else sets limits too.
 */
export function createUsageLimits(organisation: Organisation, now: () => number) {
  let global: number | null | undefined
  const put = new Map<string, number | null>()
  const offset = (): number => daysBetween(organisation.firstDay, dayOf(now()))

  const userLimits = (): readonly UserLimit[] => {
    const all = new Map([...madeUp(organisation, offset()), ...put])
    return [...all].flatMap(([email, own]) => (own === null ? [] : [{ email, limit: own }]))
  }

  return {
    read: (): object => ({
      globalLimit: global === undefined ? globalOn(offset()) : global,
      userLimits: userLimits(),
    }),
    setGlobal: (value: number | null): object => {
      global = value
      return { limit: value }
    },
    /** Users that are not in the organisation are in `errors`. */
    setUsers: (users: readonly UserLimit[]): object => {
      const known = new Set(emailsOn(organisation, offset()))
      const isKnown = ({ email }: UserLimit): boolean => known.has(email.toLowerCase())
      const updated = users.filter(isKnown)
      for (const { email, limit: own } of updated) put.set(email.toLowerCase(), own)
      const errors = users
        .filter((user) => !isKnown(user))
        .map(({ email }) => ({ email, error: 'no user of the organisation has this e-mail' }))
      return { updated, errors }
    },
  }
}

function globalOn(offset: number): number {
  return offset < 60 ? 5_000_000 : 8_000_000
}

/** Three people with limits of their own, one of which goes up and down. */
function madeUp(organisation: Organisation, offset: number): readonly [string, number][] {
  const [first, second, third] = emailsOn(organisation, offset)
  const all: [string | undefined, number][] = [
    [first, 20_000_000],
    [second, Math.floor(offset / 10) % 2 === 0 ? 2_000_000 : 3_000_000],
    [third, 0],
  ]
  return all.flatMap(([email, own]) => (email === undefined ? [] : [[email, own]]))
}

function emailsOn(organisation: Organisation, offset: number): readonly string[] {
  return organisation.people.flatMap((person) => {
    const email: unknown = JSON.parse(emailJsonOn(person, offset))
    return typeof email === 'string' ? [email] : []
  })
}
