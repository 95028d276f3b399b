import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import type { Column, ModelNode, SnapshotRule } from './types.ts'

/** Columns that a snapshot has in addition to those of its source, named and filled as dbt does. */
const OWN_COLUMNS: readonly (readonly [name: string, description: string])[] = [
  ['dbt_scd_id', 'Names the row: a digest of its key and dbt_updated_at. Never NULL.'],
  ['dbt_updated_at', 'When the row was so, as far as is known, UTC. Never NULL.'],
  ['dbt_valid_from', 'From when on the row was so, UTC. Never NULL.'],
  ['dbt_valid_to', 'Until when the row was so, UTC. NULL where it still is.'],
]

/** The described columns, and those that every snapshot has. */
export function snapshotColumns(described: readonly Column[], place: Column['place']): Column[] {
  const own = OWN_COLUMNS.filter(([name]) => described.every((column) => column.name !== name))
  const bare = { additivity: null, meta: {}, place }
  return [...described, ...own.map(([name, description]) => ({ name, description, ...bare }))]
}

/**
 * Brings the table of a snapshot up to date, in one transaction: rows that are
 * no longer so end, rows that are new or otherwise begin. `now` in milliseconds
 * since the epoch.
 */
export async function takeSnapshot(
  db: Database,
  node: ModelNode,
  rule: SnapshotRule,
  now: number,
): Promise<void> {
  const { columns } = await db.table(`select * from (${node.sql}) limit 0`)
  const values = { relation: node.relation, rows: node.sql, ...expressions(rule, columns, now) }
  if (await isThere(db, node)) {
    await addColumns(db, node)
    await db.run(fill(statement('snapshots/update'), values))
  } else await db.run(fill(statement('snapshots/create'), values))
}

function expressions(
  {
    unique_key: key,
    updated_at: updatedAt,
    check_cols: checked,
    hard_deletes: deletes,
  }: SnapshotRule,
  columns: readonly string[],
  now: number,
): Record<string, string> {
  const moment = `cast(${literal(new Date(now).toISOString().slice(0, -1))} as timestamp)`
  const time = updatedAt === null ? moment : `cast(${identifier(updatedAt)} as timestamp)`
  const isSame = key
    .map((name) => `held.${identifier(name)} is not distinct from fresh.${identifier(name)}`)
    .join(' and ')
  const compared = checked === 'all' ? columns : checked
  const isOtherwise = compared
    .map((name) => `held.${identifier(name)} is distinct from fresh.${identifier(name)}`)
    .join(' or ')
  const parts = [...key.map(identifier), time].map(
    (part) => `coalesce(cast(${part} as varchar), '')`,
  )
  return {
    now: moment,
    updated_at: time,
    scd_id: `md5(${parts.join(" || '|' || ")})`,
    is_same_key: isSame,
    is_changed: updatedAt === null ? isOtherwise : 'held.dbt_valid_from < fresh.dbt_updated_at',
    is_deleted: deletes === 'ignore' ? 'false' : `not exists (select 1 from fresh where ${isSame})`,
  }
}

/** Whether the model has a table in the database in use. */
export async function isThere(db: Database, { schema, name }: ModelNode): Promise<boolean> {
  const found = await db.rows(
    `select 1 from duckdb_tables()
    where database_name = current_database() and schema_name = $1 and table_name = $2`,
    [schema, name],
  )
  return found.length > 0
}

/** What it is of may have got columns; earlier rows have NULL there. */
async function addColumns(db: Database, { relation, sql }: ModelNode): Promise<void> {
  const published = await db.table(`select * from ${relation} limit 0`)
  const fresh = await db.table(`select * from (${sql}) limit 0`)
  for (const [index, name] of fresh.columns.entries()) {
    if (published.columns.includes(name)) continue
    const type = fresh.types[index] ?? 'varchar'
    await db.run(`alter table ${relation} add column ${identifier(name)} ${type}`)
  }
}
