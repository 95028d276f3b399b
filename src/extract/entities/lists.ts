import { ApiError, type ApiClient, type ReadinessPage, type Served } from '../../client/index.ts'
import type { RawRow } from '../../lake/raw-days.ts'
import type { EntityResource } from '../../lake/resources.ts'
import { Responses, keyIn, knownItems, type EntityContext } from './context.ts'

/** Lands the current state of a resource: a day holds the last response received on it. */
export async function landSnapshot<T>(
  context: EntityContext,
  resource: EntityResource,
  served: Served<T>,
): Promise<T> {
  const responses = new Responses(context, resource)
  responses.add(served)
  await responses.land()
  return served.value
}

/**
 * Fetches revisions that are new or changed: requests pages, newest first, up to a page with a
 * known revision. Fetches the whole history if `isWhole`: the first time, and after landed days
 * went missing. If a page fails, nothing lands.
 */
export async function fetchControls(context: EntityContext, isWhole: boolean): Promise<void> {
  const responses = new Responses(context, 'enterprise_controls')
  const revisionOf = keyIn('revision')
  const known = await knownItems(context, 'enterprise_controls', '$.revision')
  const isKnown = (row: RawRow): boolean => known.hasKey(revisionOf(row))
  // A revision without secrets lands as served: on most nights no secret needs to be found.
  const isNew = (item: string): boolean => !known.has({ item })
  let page = 0
  for await (const served of context.client.controls.fetchPages()) {
    page += 1
    const rows = responses.add(served, page, isNew)
    if (!isWhole && (rows.length < served.items.length || rows.some(isKnown))) break
  }
  await responses.addToDay(
    revisionOf,
    responses.rows.filter((row) => !known.has(row)),
  )
}

/**
 * Fetches reports that are new or changed. The platform promises no order, so all pages are
 * requested every time. If a report occurs twice, the later page wins.
 */
export async function fetchReadiness(context: EntityContext): Promise<void> {
  const responses = new Responses(context, 'readiness_reports')
  const reportOf = keyIn('reportId')
  const known = await knownItems(context, 'readiness_reports', '$.reportId')
  let page = 0
  for await (const served of readinessPages(context.client)) {
    page += 1
    responses.add(served, page)
  }
  const latest = new Map(responses.rows.map((row) => [reportOf(row), row]))
  await responses.addToDay(
    reportOf,
    [...latest.values()].filter((row) => !known.has(row)),
  )
}

/** Reports per page. The maximum is not documented. */
const PAGE_SIZE = 100

/** Falls back to the platform's default page size if it refuses this one (400). */
async function* readinessPages({
  readiness,
}: ApiClient): AsyncGenerator<Served<ReadinessPage>, void, undefined> {
  let isFirst = true
  try {
    for await (const page of readiness.fetchPages({ limit: PAGE_SIZE })) {
      isFirst = false
      yield page
    }
  } catch (error) {
    if (!isFirst || !(error instanceof ApiError) || error.status !== 400) throw error
    yield* readiness.fetchPages()
  }
}
