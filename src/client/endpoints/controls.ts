import { checkWhole, fetchItems, withQuery, type Caller, type Served } from '../http/call.ts'
import { ContradictionError } from '../errors.ts'
import type { ControlChange, ControlsPage } from '../resource-types.ts'

export interface ControlsQuery {
  /** Revisions a page, 1 to 100; the platform's default is 20. */
  readonly limit?: number
  /** `pagination.nextCursor` of the page before. */
  readonly cursor?: string
}

/** Revisions on a page, at most (PLATFORM_API, "Limits"). */
export const MAX_CONTROLS_PAGE = 100

/** The history of the enterprise controls, newest revision first. */
export class Controls {
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** One page, its revisions also exactly as served. @throws UsageError for a limit out of bounds. */
  async fetchPage({ limit, cursor }: ControlsQuery = {}): Promise<Served<ControlsPage>> {
    if (limit !== undefined) checkWhole('limit', limit, 1, MAX_CONTROLS_PAGE)
    const path = withQuery('/api/v0/organization/enterprise-controls/history', { limit, cursor })
    return fetchItems<ControlsPage>(this.#caller, path, { key: 'changes' })
  }

  /** One page. @throws UsageError for a limit out of bounds. */
  async page(query: ControlsQuery = {}): Promise<ControlsPage> {
    return (await this.fetchPage(query)).value
  }

  /** Pages until the server says there are no more. @throws ContradictionError for pages in a loop. */
  async *fetchPages(): AsyncGenerator<Served<ControlsPage>, void, undefined> {
    const seen = new Set<string>()
    let cursor: string | undefined
    do {
      const page: Served<ControlsPage> = await this.fetchPage({
        limit: MAX_CONTROLS_PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      })
      cursor = nextCursor(page, seen)
      yield page
    } while (cursor !== undefined)
  }

  /** Every revision, newest first. */
  async *history(): AsyncGenerator<ControlChange, void, undefined> {
    for await (const { value } of this.fetchPages()) yield* value.changes
  }
}

function nextCursor(page: Served<ControlsPage>, seen: Set<string>): string | undefined {
  const { hasMore, nextCursor: next } = page.value.pagination ?? {}
  if (hasMore === false || (hasMore === undefined && (next ?? '') === '')) return undefined
  if (typeof next === 'string' && next !== '' && !seen.has(next)) {
    seen.add(next)
    return next
  }
  const what = (next ?? '') === '' ? 'there is no cursor' : 'the cursor was given before'
  throw new ContradictionError(
    `GET ${page.request}: there are more revisions, but ${what}`,
    page.requestId,
  )
}
