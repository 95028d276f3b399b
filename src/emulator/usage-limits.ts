import type { Hono } from 'hono'
import { z } from 'zod'
import { dayOf, daysBetween } from '../lib/days.ts'
import { mustManage } from './admission.ts'
import { emailOn } from './people.ts'
import { bodyOf, type Env, type Platform } from './requests.ts'

const whole = z.number().refine(Number.isInteger)

const globalLimitBody = z.strictObject({ limit: whole.min(1_000_000).nullable() })

const userLimitsBody = z.strictObject({
  users: z
    .array(z.strictObject({ email: z.string(), limit: whole.min(0).nullable() }))
    .min(1)
    .max(100),
})

/**
 * Adds the limits of credits, in memory. Limits that no request has set change sometimes, as if
 * someone else set them.
 */
export function addUsageLimits(app: Hono<Env>, { organisation, now }: Platform): void {
  const api = '/api/v0/organization/usage/limits'
  let globalSet: number | null | undefined
  const usersSet = new Map<string, number | null>()
  const offset = (): number => daysBetween(organisation.firstDay, dayOf(now()))
  const emails = (): readonly string[] =>
    organisation.people.flatMap((person) => emailOn(person, offset()) ?? [])

  app.get(`${api}/users`, (context) => {
    const limits = new Map<string, number | null>([...madeUp(emails(), offset()), ...usersSet])
    const globalLimit = offset() < 60 ? 5_000_000 : 8_000_000
    return context.json({
      globalLimit: globalSet === undefined ? globalLimit : globalSet,
      userLimits: [...limits].flatMap(([email, limit]) => (limit === null ? [] : { email, limit })),
    })
  })
  app.put(`${api}/global`, async (context) => {
    mustManage(context, SET_BY)
    const { limit } = await bodyOf(context, globalLimitBody)
    globalSet = limit
    return context.json({ limit })
  })
  app.put(`${api}/users`, async (context) => {
    mustManage(context, SET_BY)
    const { users } = await bodyOf(context, userLimitsBody)
    const known = new Set(emails())
    const updated = users.filter(({ email }) => known.has(email.toLowerCase()))
    for (const { email, limit } of updated) usersSet.set(email.toLowerCase(), limit)
    const errors = users
      .filter((user) => !updated.includes(user))
      .map(({ email }) => ({ email, error: 'no user of the organisation has this e-mail' }))
    return context.json({ updated, errors })
  })
}

const SET_BY = 'limits are set by'

/** Three people with their own limits, one of which goes up and down. */
function madeUp(emails: readonly string[], offset: number): (readonly [string, number])[] {
  const limits = [20_000_000, Math.floor(offset / 10) % 2 === 0 ? 2_000_000 : 3_000_000, 0]
  return emails.slice(0, limits.length).map((email, place) => [email, limits[place] ?? 0])
}
