import { identifier, type Database } from '../../lib/duckdb.ts'
import type { Making, ModelNode } from '../project/types.ts'

/**
 * Brings the table of an incremental model up to date, in one transaction: its
 * pre-hooks take out what is no longer so, then every interval that the select
 * has rows of is replaced whole. Returns how many intervals those are.
 */
export async function increment(
  db: Database,
  node: ModelNode,
  { preHooks, sql }: Making,
): Promise<number> {
  const changed = changedIntervals(node)
  await db.run('begin transaction')
  try {
    await replaceIntervals(db, node, { preHooks, sql })
  } catch (error) {
    await db.run('rollback').catch(() => undefined) // the first error is reported, not this one
    throw error
  }
  const [row] = await db.rows(`select count(*) as intervals from ${changed}`)
  return Number(row?.['intervals'] ?? 0)
}

/** Old rows are distinguished from new ones by their row number: a copy next to the table would be written twice. */
async function replaceIntervals(
  db: Database,
  node: ModelNode,
  { preHooks, sql }: Making,
): Promise<void> {
  const { relation, unique_key: key } = node
  const columns = key.map(identifier).join(', ')
  const changed = changedIntervals(node)
  for (const hook of preHooks) await db.run(hook)
  const [row] = await db.rows(`select max(rowid) as last from ${relation}`)
  const last = Number(row?.['last'] ?? -1)
  await db.run(`insert into ${relation} ${sql}`)
  await db.run(`create or replace temp table ${changed} as
      select distinct ${columns} from ${relation} where rowid > ${String(last)};
    delete from ${relation}
      where rowid <= ${String(last)} and (${columns}) in (select ${columns} from ${changed});
    commit`)
}

/** The rows of the intervals that were replaced, as a relation, in the database that did it. */
export function changedRows(node: ModelNode): string {
  const columns = node.unique_key.map(identifier).join(', ')
  const changed = `select ${columns} from ${changedIntervals(node)}`
  return `(from ${node.relation} where (${columns}) in (${changed}))`
}

/** The intervals that were replaced: a temporary table. */
function changedIntervals({ name }: ModelNode): string {
  return identifier(`changed_${name}`)
}
