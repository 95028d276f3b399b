import {
  documented,
  eachOnce,
  Endpoints,
  fetchItems,
  objectsOf,
  sendServed,
  withQuery,
  type Caller,
  type Served,
  eachPage,
  textOf,
  unredacted,
} from '../http/call.ts'
import type { ServedRow } from '../json/envelope.ts'
import { checkWhole } from '../../lib/numbers.ts'
import type {
  ControlChange,
  ControlsPage,
  UsageLimits,
  UserLimitsResult,
  ReadinessReport,
} from '../types.ts'
import { UsageError } from '../../lib/errors.ts'
import { fieldOf } from '../../lib/json.ts'

/** Which page of the history. */
export interface ControlsQuery {
  /** Revisions on a page, 1 to 100; the platform's default is 20. */
  readonly limit?: number | undefined
  /** `pagination.nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** The highest number of revisions on a page (PLATFORM_API, "Limits"). */
export const MAX_CONTROLS_PAGE = 100

/** The history of the enterprise controls, newest revision first. */
export class Controls extends Endpoints {
  /** One page, with its revisions exactly as served. @throws UsageError for a limit out of bounds. */
  async fetchPage({ limit, cursor }: ControlsQuery = {}): Promise<Served<ControlsPage>> {
    if (limit !== undefined) checkWhole('limit', limit, 1, MAX_CONTROLS_PAGE)
    const path = withQuery('/api/v0/organization/enterprise-controls/history', { limit, cursor })
    return fetchItems<ControlsPage>(this.caller, path, { key: 'changes' })
  }

  /** One page. @throws UsageError for a limit out of bounds. */
  async page(query: ControlsQuery = {}): Promise<ControlsPage> {
    const page = await this.fetchPage(query)
    return { ...page.value, changes: objectsOf<ControlChange>(page.items, page) }
  }

  /** Pages until the server says that there are no more. @throws ContradictionError for pages in a loop. */
  fetchPages(): AsyncGenerator<Served<ControlsPage>, void, undefined> {
    return eachPage((cursor) => this.fetchPage({ limit: MAX_CONTROLS_PAGE, cursor }), cursorAfter)
  }

  /** Every revision once: one that is made meanwhile moves others to the next page. */
  history(): AsyncGenerator<ControlChange, void, undefined> {
    return eachOnce<ControlChange>(this.fetchPages(), ({ revision }) => revision)
  }
}

function cursorAfter({ value }: Served<ControlsPage>): string | null | undefined {
  const { hasMore, nextCursor } = value.pagination ?? {}
  const next = textOf(nextCursor)
  return hasMore === false || (hasMore == null && next === null) ? undefined : next
}

/** The lowest global limit, in credits (PLATFORM_API, "Limits"). */
export const MIN_GLOBAL_LIMIT = 1_000_000

/** The highest number of users in a request (PLATFORM_API, "Limits"). */
export const MAX_USERS_PER_REQUEST = 100

/** Whole credits, a bigint if a number is not exact; null is no limit. */
export type Credits = number | bigint | null

/** A limit to set for one user; null removes it. */
export interface WantedLimit {
  readonly email: string
  readonly limit: Credits
}

/** The global limit of credits, and the limits of users. */
export class Limits extends Endpoints {
  /** All limits, with the response exactly as served. */
  fetch(): Promise<Served<UsageLimits>> {
    return fetchItems<UsageLimits>(this.caller, USERS, 'whole')
  }

  /** All limits. */
  async get(): Promise<UsageLimits> {
    return (await this.fetch()).value
  }

  /**
   * Sets the limit of every user without their own limit; null removes it.
   *
   * @throws UsageError for a limit below 1,000,000.
   */
  async setGlobal(limit: Credits): Promise<{ readonly limit: number | null }> {
    return documented((await this.sendGlobal(limit)).value)
  }

  /** `setGlobal`, with the response exactly as served: a number rounds limits beyond 2^53. */
  async sendGlobal(limit: Credits): Promise<ServedRow> {
    checkGlobalLimit(limit)
    return sendServed(this.caller, 'PUT', GLOBAL, `{"limit":${String(limit)}}`)
  }

  /**
   * Sets limits of users by e-mail; null removes one. Users whose limit was not set
   * are in `errors` of the result. A list that the response lacks is empty: of a user in neither,
   * the outcome is unknown.
   *
   * @throws UsageError for none or more than 100 users, an empty e-mail, or a limit that is no whole number.
   */
  async setUsers(users: readonly WantedLimit[]): Promise<UserLimitsResult> {
    const { value } = await this.sendUsers(users)
    const result = documented<Partial<UserLimitsResult>>(value)
    return { ...result, updated: result.updated ?? [], errors: result.errors ?? [] }
  }

  /** `setUsers`, with the response exactly as served: a number rounds limits beyond 2^53. */
  async sendUsers(users: readonly WantedLimit[]): Promise<ServedRow> {
    if (users.length < 1 || users.length > MAX_USERS_PER_REQUEST) {
      const bounds = `of 1 to ${MAX_USERS_PER_REQUEST} users`
      throw new UsageError(`a request sets the limits ${bounds}, not of ${users.length}`, {
        hint: `Give 1 to ${MAX_USERS_PER_REQUEST} users at a time.`,
      })
    }
    for (const { email, limit } of users) {
      if (email.trim() === '') throw new UsageError('a user without an e-mail address')
      if (limit !== null) checkInteger(`the limit of ${email}`, limit)
    }
    const wanted = users.map(({ email, limit }) => {
      return `{"email":${JSON.stringify(email)},"limit":${String(limit)}}`
    })
    return sendServed(this.caller, 'PUT', USERS, `{"users":[${wanted.join(',')}]}`)
  }
}

/** @throws UsageError for a global limit below 1,000,000. */
export function checkGlobalLimit(limit: Credits): void {
  if (limit === null) return
  checkInteger('the global limit', limit)
  if (limit >= MIN_GLOBAL_LIMIT) return
  const bound = `is not a whole number of at least ${MIN_GLOBAL_LIMIT}`
  throw new UsageError(`the global limit: ${limit} ${bound}`)
}

/** @throws UsageError for a number that is no integer, or too large to be exact. */
function checkInteger(what: string, value: number | bigint): void {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return
  throw new UsageError(`${what}: ${value} is not a whole number; beyond 2^53 it must be a bigint`)
}

const GLOBAL = '/api/v0/organization/usage/limits/global'
const USERS = '/api/v0/organization/usage/limits/users'
const REPORTS = '/api/organization/maturity-level-reports'

/** Which readiness reports. */
export interface ReadinessQuery {
  /** Reports of one repository. */
  readonly repoId?: string | undefined
  /** Reports on a page; the platform may send fewer. */
  readonly limit?: number | undefined
  /** `reportId` of the last report of the page before. */
  readonly startAfter?: string | undefined
}

/** A page of readiness reports; the order is not documented. */
export interface ReadinessPage {
  readonly reports: readonly ReadinessReport[]
}

/** Readiness reports of repositories, on the application host; `caller` is null without `appUrl`. */
export class Readiness extends Endpoints<Caller | null> {
  /**
   * One page, with its reports exactly as served.
   *
   * @throws UsageError for a limit below 1, and without `appUrl`.
   */
  async fetchPage(query: ReadinessQuery = {}): Promise<Served<ReadinessPage>> {
    const { repoId, limit, startAfter } = query
    if (this.caller === null) {
      const problem = 'and appUrl is not set'
      throw new UsageError(`readiness reports are on the web application host, ${problem}`)
    }
    if (limit !== undefined) checkWhole('limit', limit, 1)
    const path = withQuery(REPORTS, { repoId, limit, startAfter })
    return fetchItems<ReadinessPage>(this.caller, path, { key: 'reports' })
  }

  /** One page. @throws as `fetchPage` does. */
  async page(query: ReadinessQuery = {}): Promise<readonly ReadinessReport[]> {
    const page = await this.fetchPage(query)
    return objectsOf<ReadinessReport>(page.items, page)
  }

  /**
   * Pages until one has no new report: the platform does not mark the last page, a
   * page may be shorter than requested, and the order of reports is not documented.
   */
  async *fetchPages(
    query: Omit<ReadinessQuery, 'startAfter'> = {},
  ): AsyncGenerator<Served<ReadinessPage>, void, undefined> {
    const seen = new Set<string | null>()
    let startAfter: string | undefined
    for (;;) {
      const page: Served<ReadinessPage> = await this.fetchPage(
        startAfter === undefined ? query : { ...query, startAfter },
      )
      const ids = page.items.map(({ value }) => textOf(fieldOf(value, 'reportId')))
      const isNew = ids.some((id) => !seen.has(id))
      for (const id of ids) seen.add(id)
      if (!isNew) return
      yield page
      const last = ids.at(-1) ?? null
      if (last === null) return
      startAfter = unredacted(last, page)
    }
  }

  /** Every report once. */
  reports(
    query: Omit<ReadinessQuery, 'startAfter'> = {},
  ): AsyncGenerator<ReadinessReport, void, undefined> {
    return eachOnce<ReadinessReport>(this.fetchPages(query), ({ reportId }) => reportId)
  }
}
