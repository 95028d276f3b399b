import { literal } from '../lib/duckdb.ts'
import { statement, fill } from '../lib/package.ts'
import { isAnalytics, ITEMS } from '../lake/resources.ts'

/** The macros of the statements that make base. */
export const MACROS = ['lake/macros', 'base/_numbers', 'base/_macros', 'drift/macros']
  .map(statement)
  .join(';\n')

const PARSED = statement('base/steps/parsed')

/** Makes the table `parsed` of the items in `raw`. */
export function parsedSql(
  resource: string,
  into = 'create or replace temp table parsed as',
): string {
  const read = ITEMS[resource]
  if (read === undefined) throw new RangeError(`there are no items of ${resource}`)
  return fill(PARSED, {
    into,
    shape: literal(JSON.stringify(read.item)),
    // an analytics day that is fetched again is a separate version
    place: `{${isAnalytics(resource) ? '' : "'fetched_at': fetched_at, "}'page': page, 'ordinal': ordinal}`,
    has_large_numbers: resource === 'tokens' ? 'has_large_numbers(item)' : 'false',
    columns: read.columns === undefined ? '' : `${read.columns},`,
    key: read.key ?? "''",
  })
}
