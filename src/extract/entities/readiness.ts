import { ApiError, fieldOf, type ReadinessPage, type Served } from '../../client/index.ts'
import type { RawRow } from '../land/row-lines.ts'
import { originNow, rowsOf, today, type EntityContext } from './context.ts'
import { knownItems } from './known.ts'
import { addToDay } from './land-rows.ts'

const RESOURCE = 'readiness_reports'

/** Reports a page; the most that is allowed is not documented. */
const PAGE_SIZE = 100

/**
 * Reports that are not known, or not as they are now. Their order is not
 * promised, so all pages are read every time; a report that is served twice
 * counts once, the later page winning.
 */
export async function fetchReadiness(context: EntityContext): Promise<void> {
  const known = await knownItems(context, RESOURCE, '$.reportId')
  const rows = new Map<string, RawRow>()
  let page = 0
  let last = originNow(context, '')
  for await (const served of pages(context)) {
    page += 1
    for (const row of rowsOf(context, RESOURCE, served, page)) rows.set(reportOf(row), row)
    last = { ...originNow(context, served.request, served.requestId), page }
  }
  const fresh = [...rows.values()].filter((row) => !known.has(row))
  await addToDay(context, RESOURCE, today(context), fresh, reportOf, last)
}

/** A platform that allows no such pages is asked for its own. */
async function* pages({
  client,
}: EntityContext): AsyncGenerator<Served<ReadinessPage>, void, undefined> {
  let isFirst = true
  try {
    for await (const page of client.readiness.fetchPages({ limit: PAGE_SIZE })) {
      isFirst = false
      yield page
    }
  } catch (error) {
    if (!isFirst || !(error instanceof ApiError) || error.status !== 400) throw error
    yield* client.readiness.fetchPages()
  }
}

function reportOf({ item }: RawRow): string {
  const id = fieldOf(JSON.parse(item), 'reportId')
  return typeof id === 'string' && id !== '' ? id : item
}
