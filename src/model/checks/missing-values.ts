import { identifier } from '../../lib/duckdb.ts'
import type { BuildContext } from '../build/build-context.ts'

/** A check that asks only whether a column of a relation has values. */
export interface Asked {
  readonly check: string
  readonly column: string
  readonly relation: string
}

/** Rows that a check found wrong, and its share of the time that it took, milliseconds. */
export interface Count {
  readonly failures: number
  readonly durationMs: number
}

/**
 * Counts the rows without a value for all checks of one relation in one pass: a
 * view on the lake is read once, not once a column. By the check's name; what
 * DuckDB refuses to count is left out: the check itself reports it.
 */
export async function countMissingValues(
  { db, now, signal }: BuildContext,
  asked: readonly Asked[],
): Promise<ReadonlyMap<string, Count>> {
  const counts = new Map<string, Count>()
  for (const relation of new Set(asked.map((each) => each.relation))) {
    const group = asked.filter((each) => each.relation === relation)
    signal?.throwIfAborted()
    const columns = group.map(({ column }) => `count(*) - count(${identifier(column)})`)
    const startedAt = now()
    const table = await db.table(`select ${columns.join(', ')} from ${relation}`).catch(() => null)
    const durationMs = Math.round((now() - startedAt) / group.length)
    const [row] = table?.rows ?? []
    for (const [index, { check }] of group.entries()) {
      if (row !== undefined) counts.set(check, { failures: Number(row[index]), durationMs })
    }
  }
  return counts
}
