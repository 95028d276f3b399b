import { statement, fill } from '../lib/package.ts'

/** The macros of the statements that make base. */
export const MACROS = ['lake/macros', 'base/_numbers', 'base/_macros'].map(statement).join(';\n')

const PARSED = statement('base/steps/parsed')

/** Makes the table `parsed` from `raw`: the items of a resource, which the statements of its entities read. */
export function parsedSql(
  resource: string,
  into = 'create or replace temp table parsed as',
): string {
  return fill(PARSED, { into, select: statement(`base/items/${resource}`) })
}
