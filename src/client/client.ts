import { parseDay, type DayRange } from '../lib/days.ts'
import { UsageError } from '../lib/errors.ts'
import type { Learned } from '../lib/learned.ts'
import type { World } from '../lib/world.ts'
import {
  Analytics,
  userPages,
  type AnalyticsEndpoint,
  type AnalyticsQuery,
} from './endpoints/analytics.ts'
import { Controls, Limits, Readiness } from './endpoints/organisation.ts'
import { Computers, Sessions } from './endpoints/sessions.ts'
import { documented, type Caller } from './http/call.ts'
import { Transport, type TransportOptions } from './http/transport.ts'
import type {
  ActivityDay,
  GroupedRow,
  ModelDay,
  ProductivityDay,
  TokensDay,
  ToolsDay,
  UserDay,
} from './types.ts'

export interface ClientOptions extends TransportOptions {
  /** The public API host, e.g. `https://api.example.com`. */
  readonly baseUrl: string
  /** The web application host, e.g. `https://app.example.com`, which serves readiness reports. */
  readonly appUrl?: string
}

/** Both days `YYYY-MM-DD`, UTC, included. */
export interface DateRangeOptions {
  readonly startDate: string
  readonly endDate: string
}

/**
 * The platform's public API, typed. Every method throws RefusedError (401,
 * 403), ApiError with the Problem body, TransportError, BodyError, or
 * DeferredError when a rate limit would outlast the deadline.
 */
export class ApiClient extends Analytics {
  /** The history of the enterprise controls. */
  readonly controls: Controls
  /** Credit limits. */
  readonly limits: Limits
  /** Readiness reports of repositories; requires `appUrl`. */
  readonly readiness: Readiness
  /** Sessions and their messages. */
  readonly sessions: Sessions
  readonly computers: Computers

  constructor(options: ClientOptions, world: World) {
    const transport = new Transport(options, world)
    const on = (url: string): Caller => ({ transport, baseUrl: url.replace(/\/+$/, '') })
    const caller = on(options.baseUrl)
    super(caller)
    this.controls = new Controls(caller)
    this.limits = new Limits(caller)
    this.readiness = new Readiness(options.appUrl === undefined ? null : on(options.appUrl))
    this.sessions = new Sessions(caller)
    this.computers = new Computers(caller)
  }

  /** The limits learned so far, for the next client to begin with. */
  learned(): Learned {
    return this.caller.transport.learned()
  }

  /** Credits and tokens, one row per day. */
  tokens(range: DateRangeOptions): Promise<TokensDay[]> {
    return this.#days('tokens', range)
  }

  /** Credits and tokens, one row per model and day. */
  tokensByModel(range: DateRangeOptions): Promise<ModelDay[]> {
    return this.#days('tokens', range, 'model')
  }

  /** Tool usage, one row per day. */
  tools(range: DateRangeOptions): Promise<ToolsDay[]> {
    return this.#days('tools', range)
  }

  /** Tool calls, one row per tool and day. */
  toolsByName(range: DateRangeOptions): Promise<(GroupedRow & { readonly tool_calls?: number })[]> {
    return this.#days('tools', range, 'tool_name')
  }

  /** Active users and sessions, one row per day. */
  activity(range: DateRangeOptions): Promise<ActivityDay[]> {
    return this.#days('activity', range)
  }

  /** Active users, one row per client and day; a user on two clients is in both. */
  activityByClient(
    range: DateRangeOptions,
  ): Promise<(GroupedRow & { readonly daily_active_users?: number })[]> {
    return this.#days('activity', range, 'client')
  }

  /** Files, commits and pull requests, one row per day. */
  productivity(range: DateRangeOptions): Promise<ProductivityDay[]> {
    return this.#days('productivity', range)
  }

  /** Every user of every day in the range, page by page. */
  async *users(range: DateRangeOptions): AsyncGenerator<readonly UserDay[], void, undefined> {
    for await (const page of userPages((query) => this.ask('users', query), rangeOf(range))) {
      yield page.rows.map((row) => documented<UserDay>(row.value))
    }
  }

  async #days<T extends { readonly date: string }>(
    endpoint: AnalyticsEndpoint,
    range: DateRangeOptions,
    groupBy?: AnalyticsQuery['groupBy'],
  ): Promise<T[]> {
    const answer = await this.ask(endpoint, { range: rangeOf(range), groupBy })
    return answer.rows.map((row) => documented<T>(row.value))
  }
}

function rangeOf(options: DateRangeOptions): DayRange {
  const first = parseDay(options.startDate, 'startDate')
  const last = parseDay(options.endDate, 'endDate')
  if (first > last) throw new UsageError(`startDate ${first} is after endDate ${last}`)
  return { first, last }
}
