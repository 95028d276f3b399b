import { literal, type Database } from '../lib/duckdb.ts'
import { statement, fill } from '../lib/package.ts'
import type { DayBatch } from './batch.ts'
import { keysOf, type Documented, type Field } from './documented.ts'
import { ENTITIES, isAnalytics } from './entities.ts'

const REPEATED_DAYS = statement('drift/repeated_days')
const REPEATED = statement('drift/repeated')
const NO_FINDINGS = statement('drift/no_findings')

const ITEMS = new Map(
  [...new Set(ENTITIES.map(({ resource }) => resource))]
    .filter(isAnalytics)
    .map((resource) => [resource, statement(`base/items/${resource}`)]),
)

/** What the repeated rows are found by. */
export const REPEATED_STATEMENTS: readonly string[] = [REPEATED_DAYS, REPEATED, ...ITEMS.values()]

/**
 * The select of the rows of one key and day that differ, of which base keeps the last.
 * Of analytics alone: a row of another list may change during the pagination.
 * To be called while `raw` holds all days; it may hold fewer afterwards.
 */
export async function takeRepeated(
  database: Database,
  batch: DayBatch,
  documented: Documented,
): Promise<string> {
  const items = ITEMS.get(batch.resource)
  if (items === undefined) return NO_FINDINGS
  const [key] = keysOf(documented.get('$') ?? new Map<string, Field>())
  const keySql =
    key === undefined ? "'the day'" : `try(json_extract_string(item, ${literal(`$.${key}`)}))`
  const { rows } = await database.table(fill(REPEATED_DAYS, { key: keySql }))
  if (rows.length === 0) return NO_FINDINGS
  const dates = new Set(rows.map(String))
  await batch.read(batch.days.filter(({ day }) => dates.has(day)))
  await database.run(fill(REPEATED, { items, path: literal(`$.${key ?? 'date'}`) }))
  return 'from repeated'
}
