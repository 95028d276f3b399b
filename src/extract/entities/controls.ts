import { fieldOf } from '../../client/index.ts'
import type { RawRow } from '../land/row-lines.ts'
import { originNow, rowsOf, today, type EntityContext } from './context.ts'
import { knownItems } from './known.ts'
import { addToDay } from './land-rows.ts'

const RESOURCE = 'enterprise_controls'

/**
 * Revisions that are not known: pages, the newest first, until one has a revision
 * that is. The whole history the first time, and after what was landed of it was
 * missing. Nothing lands of pages that did not come to their end.
 */
export async function fetchControls(context: EntityContext, isWhole: boolean): Promise<void> {
  const known = await knownItems(context, RESOURCE, '$.revision')
  const rows: RawRow[] = []
  let page = 0
  let last = originNow(context, '')
  for await (const served of context.client.controls.fetchPages()) {
    page += 1
    const found = rowsOf(context, RESOURCE, served, page)
    const isKnown = (row: RawRow): boolean => known.has(row) || known.hasKey(revisionOf(row))
    rows.push(...found.filter((row) => !isKnown(row)))
    last = { ...originNow(context, served.request, served.requestId), page }
    if (!isWhole && found.some(isKnown)) break
  }
  await addToDay(context, RESOURCE, today(context), rows, revisionOf, last)
}

/** What has no revision is identified by all of its text. */
function revisionOf({ item }: RawRow): string {
  const revision = fieldOf(JSON.parse(item), 'revision')
  return typeof revision === 'number' || typeof revision === 'string' ? String(revision) : item
}
