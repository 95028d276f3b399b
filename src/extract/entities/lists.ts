import {
  ApiError,
  type Computer,
  type ApiClient,
  type ReadinessPage,
  type Served,
} from '../../client/index.ts'
import type { RawRow } from '../land/row-lines.ts'
import { Answers, keyIn, type EntityContext } from './context.ts'
import { knownItems } from './known.ts'

/** All limits as they are now: the day is the last answer of it. */
export async function fetchLimits(context: EntityContext): Promise<void> {
  const answers = new Answers(context, 'usage_limits')
  answers.add(await context.client.limits.fetch())
  await answers.land()
}

/** All computers as they are now: the day is the last answer of it. */
export async function fetchComputers(context: EntityContext): Promise<readonly Computer[]> {
  const answers = new Answers(context, 'computers')
  const served = await context.client.computers.fetchAll()
  answers.add(served)
  await answers.land()
  return served.value.computers
}

/**
 * Revisions that are not known: pages, the newest first, until one has a revision
 * that is. The whole history the first time, and after what was landed of it was
 * missing. Nothing lands of pages that did not come to their end.
 */
export async function fetchControls(context: EntityContext, isWhole: boolean): Promise<void> {
  const answers = new Answers(context, 'enterprise_controls')
  const revisionOf = keyIn('revision')
  const known = await knownItems(context, 'enterprise_controls', '$.revision')
  const isKnown = (row: RawRow): boolean => known.has(row) || known.hasKey(revisionOf(row))
  let page = 0
  for await (const served of context.client.controls.fetchPages()) {
    page += 1
    const rows = answers.add(served, page)
    if (!isWhole && rows.some(isKnown)) break
  }
  await answers.addToDay(
    revisionOf,
    answers.rows.filter((row) => !isKnown(row)),
  )
}

/**
 * Reports that are not known, or not as they are now. Their order is not
 * promised, so all pages are read every time; a report that is served twice
 * counts once, the later page winning.
 */
export async function fetchReadiness(context: EntityContext): Promise<void> {
  const answers = new Answers(context, 'readiness_reports')
  const reportOf = keyIn('reportId')
  const known = await knownItems(context, 'readiness_reports', '$.reportId')
  let page = 0
  for await (const served of readinessPages(context.client)) {
    page += 1
    answers.add(served, page)
  }
  const latest = new Map(answers.rows.map((row) => [reportOf(row), row]))
  await answers.addToDay(
    reportOf,
    [...latest.values()].filter((row) => !known.has(row)),
  )
}

/** Reports a page; the most that is allowed is not documented. */
const PAGE_SIZE = 100

/** A platform that allows no such pages is asked for its own. */
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
