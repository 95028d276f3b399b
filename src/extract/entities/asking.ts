import { RefusedError, type Served } from '../../client/index.ts'
import { asError } from '../../lib/errors.ts'
import { warner } from '../../lib/world.ts'
import type { EntityResource } from '../../lib/resource-names.ts'
import { abortsRun, isNotGranted } from '../fetch/failures.ts'
import type { PageOrigin, RawRow } from '../land/row-lines.ts'
import {
  inOrderOfRequests,
  originNow,
  pathOf,
  rowsOf,
  today,
  type EntityContext,
} from './context.ts'
import { addToDay } from './land-rows.ts'
import { UnknownSessions } from './unknown-sessions.ts'

/** Ids that one night asks for at most. */
const MOST_A_NIGHT = 500

/** Failures, or refusals before any answer, after which the rest is left for the next night. */
const MOST_FAILURES = 12
const MOST_REFUSALS = 3

/** Ids that a warning lists. */
const LISTED = 5

/** Asks for items one by one, by ids that may be wrong, and lands those that were served. */
export class Asking {
  readonly #context: EntityContext
  readonly #resource: EntityResource
  readonly #named: readonly string[]
  readonly #unknown: UnknownSessions
  readonly #rows: RawRow[] = []
  readonly #errors: Error[] = []
  /** Each id that was not served, and whether it was refused: else there is no such item. */
  readonly #missed = new Map<string, boolean>()
  #refused: RefusedError | undefined
  #refusals = 0
  #asked = 0
  #left = 0
  #failuresInARow = 0
  #last: PageOrigin

  private constructor(
    context: EntityContext,
    resource: EntityResource,
    named: readonly string[],
    unknown: UnknownSessions,
  ) {
    this.#context = context
    this.#resource = resource
    this.#named = named
    this.#unknown = unknown
    this.#last = originNow(context, '')
  }

  /** `named`: ids that were asked for by argument, due or not. */
  static async open(
    context: EntityContext,
    resource: EntityResource,
    named: readonly string[],
  ): Promise<Asking> {
    const { dataFolder, orgId, world } = context
    const unknown = await UnknownSessions.open(dataFolder, orgId, warner(world))
    return new Asking(context, resource, named, unknown)
  }

  /** Whether the id was asked for in vain often enough. */
  isGivenUp(id: string): boolean {
    return this.#unknown.isGivenUp(id)
  }

  /** Asks for as many as a night may have; of those that were not answered, the others are asked for. */
  async askAll<T>(
    items: readonly T[],
    idOf: (item: T) => string,
    request: (item: T) => Promise<Served<unknown>>,
  ): Promise<void> {
    const room = MOST_A_NIGHT - this.#asked
    this.#left += Math.max(0, items.length - room)
    await this.#context.forEach(items.slice(0, room), async (item) => {
      if (this.#isTripped()) {
        this.#left += 1
        return
      }
      this.#asked += 1
      await this.#ask(idOf(item), () => request(item))
    })
  }

  /**
   * Lands what was served; returns the first error of what was not.
   *
   * @throws RefusedError when nothing was served, now or before, and it was refused.
   */
  async land(): Promise<Error | null> {
    const context = this.#context
    await this.#unknown.save()
    this.#report()
    if (this.#asked === 0) return null
    const isKnown = context.recorder.hasLanded(this.#resource)
    if (this.#refused !== undefined && this.#rows.length === 0 && !isKnown) throw this.#refused
    if (this.#rows.length > 0 || this.#errors.length === 0) {
      const rows = inOrderOfRequests(this.#rows)
      await addToDay(context, this.#resource, today(context), rows, pathOf, this.#last)
    }
    return this.#errors[0] ?? null
  }

  async #ask(id: string, request: () => Promise<Served<unknown>>): Promise<void> {
    try {
      const served = await request()
      this.#rows.push(...rowsOf(this.#context, this.#resource, served))
      this.#last = originNow(this.#context, served.request, served.requestId)
      this.#failuresInARow = 0
      this.#unknown.found(id)
    } catch (error) {
      if (isNotGranted(error)) this.#miss(id, error)
      else if (abortsRun(error)) throw error
      else {
        this.#errors.push(asError(error))
        this.#failuresInARow += 1
      }
    }
  }

  #miss(id: string, error: unknown): void {
    this.#missed.set(id, error instanceof RefusedError)
    this.#failuresInARow = 0
    this.#unknown.missed(id, today(this.#context))
    if (!(error instanceof RefusedError)) return
    this.#refused = error
    this.#refusals += 1
  }

  #isTripped(): boolean {
    const isRefused = this.#rows.length === 0 && this.#refusals >= MOST_REFUSALS
    return isRefused || this.#failuresInARow >= MOST_FAILURES
  }

  #report(): void {
    const { orgId, world } = this.#context
    const warn = (message: string): void => {
      warner(world)(`${this.#resource} of ${orgId}: ${message}`)
    }
    const missed = [...this.#missed]
    const named = missed.filter(([id]) => this.#named.includes(id))
    const absent = named.filter(([, isRefused]) => !isRefused)
    const refused = named.filter(([, isRefused]) => isRefused)
    const others = missed.filter(([id]) => !this.#named.includes(id))
    if (absent.length > 0) warn(`named, and not on the platform (404): ${listed(absent)}`)
    if (refused.length > 0) warn(`named, and refused to this key (403): ${listed(refused)}`)
    if (others.length > 0) {
      warn(`the platform does not serve ${listed(others)}; an id is asked for on three nights`)
    }
    if (this.#left > 0) warn(`${this.#left} are left for the next night`)
  }
}

function listed(missed: readonly (readonly [id: string, isRefused: boolean])[]): string {
  const first = missed.slice(0, LISTED).map(([id]) => id)
  const more = missed.length - first.length
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
