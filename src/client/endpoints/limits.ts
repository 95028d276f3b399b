import { UsageError } from '../../lib/errors.ts'
import { checkWhole, fetchItems, send, type Caller, type Served } from '../http/call.ts'
import type { UsageLimits, UserLimitsResult } from '../resource-types.ts'

/** Credits, at least (PLATFORM_API, "Limits"). */
export const MIN_GLOBAL_LIMIT = 1_000_000

/** Users a request, at most (PLATFORM_API, "Limits"). */
export const MAX_USERS_PER_REQUEST = 100

/** Whole credits, a bigint where a number is not exact; null is no limit. */
export type Credits = number | bigint | null

/** A limit of one user to be set; null removes it. */
export interface WantedLimit {
  readonly email: string
  readonly limit: Credits
}

/** Limits of credits, one for all and one for each who has their own. */
export class Limits {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** All limits, the answer also exactly as served. */
  fetch(): Promise<Served<UsageLimits>> {
    return fetchItems<UsageLimits>(this.#caller, USERS, 'whole')
  }

  /** All limits. */
  async get(): Promise<UsageLimits> {
    return (await this.fetch()).value
  }

  /**
   * Sets the limit of every user without one of their own; null removes it.
   *
   * @throws UsageError for a limit below 1,000,000.
   */
  async setGlobal(limit: Credits): Promise<{ readonly limit: number | null }> {
    checkGlobalLimit(limit)
    return send(this.#caller, 'PUT', GLOBAL, `{"limit":${String(limit)}}`)
  }

  /**
   * Sets limits of users, each known by e-mail; null removes one. Users that fail
   * are in `errors` of the result.
   *
   * @throws UsageError for none or more than 100 users, an empty e-mail, a limit that is no whole number.
   */
  async setUsers(users: readonly WantedLimit[]): Promise<UserLimitsResult> {
    checkWhole('users a request', users.length, 1, MAX_USERS_PER_REQUEST)
    for (const { email, limit } of users) {
      if (email.trim() === '') throw new UsageError('a user without an e-mail address')
      if (limit !== null) checkInteger(`the limit of ${email}`, limit)
    }
    const wanted = users.map(({ email, limit }) => {
      return `{"email":${JSON.stringify(email)},"limit":${String(limit)}}`
    })
    return send(this.#caller, 'PUT', USERS, `{"users":[${wanted.join(',')}]}`)
  }
}

/** @throws UsageError for a global limit below 1,000,000. */
export function checkGlobalLimit(limit: Credits): void {
  if (limit === null) return
  checkInteger('the global limit', limit)
  if (limit >= MIN_GLOBAL_LIMIT) return
  throw new UsageError(
    `the global limit: ${limit} is not a whole number of at least ${MIN_GLOBAL_LIMIT}`,
  )
}

/** @throws UsageError for what is no integer, or a number that may be another one than was meant. */
function checkInteger(what: string, value: number | bigint): void {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return
  throw new UsageError(`${what}: ${value} is not a whole number; beyond 2^53 it has to be a bigint`)
}

const GLOBAL = '/api/v0/organization/usage/limits/global'
const USERS = '/api/v0/organization/usage/limits/users'
