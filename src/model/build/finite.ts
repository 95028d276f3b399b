import { ChecksFailedError } from '../../lib/errors.ts'
import { identifier, type Database, type Table } from '../../lib/duckdb.ts'
import { changedRows } from './incremental.ts'
import type { ModelNode } from '../project/types.ts'

/** The columns of a relation, and DuckDB's names of their types. */
export type Columns = Pick<Table, 'columns' | 'types'>

/**
 * Proves that a table's doubles are finite: DuckDB divides by zero without an
 * error, other engines do not, and what follows is no number. Of a table that
 * was brought up to date, the rows of the replaced intervals.
 *
 * @throws ChecksFailedError with the column and the statement that shows the rows.
 */
export async function refuseInfinite(
  db: Database,
  node: ModelNode,
  { columns: names, types }: Columns,
  isIncrement: boolean,
): Promise<void> {
  if (node.materialized === 'view') return
  const columns = names.filter((_, at) => DOUBLES.has(types[at] ?? '')).map(identifier)
  if (columns.length === 0) return
  const from = isIncrement ? changedRows(node) : node.relation
  const counts = columns.map((name) => `count(*) filter (not isfinite(${name})) as ${name}`)
  const [row] = await db.rows(`select ${counts.join(', ')} from ${from}`)
  const found = Object.entries(row ?? {}).map(([column, rows]) => [column, Number(rows)] as const)
  const [name, count = 0] = found.find(([, rows]) => rows > 0) ?? []
  if (name === undefined) return
  const rows = count === 1 ? '1 row' : `${count} rows`
  const problem = `column '${name}' is infinite or no number in ${rows}, as after a division by zero`
  throw new ChecksFailedError(`${node.file}: model '${node.name}': ${problem}`, {
    hint: `Divide by nullif(…, 0), which makes NULL. Nothing was published; the last warehouse is in its place. The rows that are wrong:\nselect * from (${node.sql}\n) where not isfinite(${identifier(name)});`,
  })
}

const DOUBLES = new Set(['DOUBLE', 'FLOAT'])
