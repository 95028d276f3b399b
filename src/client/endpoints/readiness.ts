import { UsageError } from '../../lib/errors.ts'
import { checkWhole, fetchItems, withQuery, type Caller, type Served } from '../http/call.ts'
import type { ReadinessReport } from '../resource-types.ts'

export interface ReadinessQuery {
  /** Reports of one repository. */
  readonly repoId?: string
  /** Reports a page; the platform may give fewer. */
  readonly limit?: number
  /** `reportId` of the last report of the page before. */
  readonly startAfter?: string
}

export interface ReadinessPage {
  readonly reports: readonly ReadinessReport[]
}

/** Readiness reports of repositories, on the application host. */
export class Readiness {
  readonly #caller: Caller | null

  /** `caller`: null where the application host is not known. */
  constructor(caller: Caller | null) {
    this.#caller = caller
  }

  /**
   * One page, its reports also exactly as served.
   *
   * @throws UsageError for a limit below 1, and where the application host is not known.
   */
  async fetchPage(query: ReadinessQuery = {}): Promise<Served<ReadinessPage>> {
    const { repoId, limit, startAfter } = query
    if (this.#caller === null) {
      throw new UsageError('readiness reports are on the application host, which is not known', {
        hint: 'Set AGENT_APP_URL, or app_url of the organisation in agent-warehouse.yaml.',
      })
    }
    if (limit !== undefined) checkWhole('limit', limit, 1)
    const path = withQuery('/api/organization/maturity-level-reports', {
      repoId,
      limit,
      startAfter,
    })
    return fetchItems<ReadinessPage>(this.#caller, path, { key: 'reports' })
  }

  /** One page. @throws as `fetchPage` does. */
  async page(query: ReadinessQuery = {}): Promise<readonly ReadinessReport[]> {
    return (await this.fetchPage(query)).value.reports
  }

  /**
   * Pages until one has no new report: the platform does not state the end, a
   * page may be shorter than asked, and the order of reports is not promised.
   */
  async *fetchPages(
    query: Omit<ReadinessQuery, 'startAfter'> = {},
  ): AsyncGenerator<Served<ReadinessPage>, void, undefined> {
    const seen = new Set<string>()
    let startAfter: string | undefined
    for (;;) {
      const page: Served<ReadinessPage> = await this.fetchPage(
        startAfter === undefined ? query : { ...query, startAfter },
      )
      const ids = page.value.reports.map(({ reportId }) => reportId)
      const isNew = ids.some((id) => !seen.has(id))
      for (const id of ids) seen.add(id)
      if (!isNew) return
      yield page
      startAfter = ids.at(-1)
      if (startAfter === undefined) return
    }
  }

  /** Every report once. */
  async *reports(
    query: Omit<ReadinessQuery, 'startAfter'> = {},
  ): AsyncGenerator<ReadinessReport, void, undefined> {
    const seen = new Set<string>()
    for await (const { value } of this.fetchPages(query)) {
      for (const report of value.reports) {
        if (!seen.has(report.reportId)) yield report
        seen.add(report.reportId)
      }
    }
  }
}
