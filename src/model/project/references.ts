import { identifier, type Database } from '../../lib/duckdb.ts'

/** A column that values of another model are to be found in. */
export interface Reference {
  readonly relation: string
  readonly field: string
}

/** True where a value is gone from the column, or where that is not known. */
export type HasLostRows = (reference: Reference) => Promise<boolean>

/** Keeps the values of the file's tables before they are built again. */
export async function watchReferences(
  db: Database,
  references: readonly Reference[],
): Promise<HasLostRows> {
  const tables = await db.rows(
    `select schema_name || '.' || table_name as relation
    from duckdb_tables() where database_name = current_database()`,
  )
  const there = new Set(tables.map(({ relation }) => relation))
  const published = new Map<string, string>()
  for (const { relation, field } of references) {
    const key = keyOf({ relation, field })
    if (published.has(key) || !there.has(relation)) continue
    const before = `held_values_${String(published.size)}`
    published.set(key, before)
    await db.run(`create temp table ${before} as
      select distinct ${identifier(field)} as held_value from ${relation}`)
  }
  return async ({ relation, field }) => {
    const before = published.get(keyOf({ relation, field }))
    if (before === undefined) return true
    const [row] = await db.rows(
      `select count(*) as lost from ${before} where held_value not in (
        select ${identifier(field)} from ${relation} where ${identifier(field)} is not null
      )`,
    )
    return row?.['lost'] !== '0'
  }
}

function keyOf({ relation, field }: Reference): string {
  return `${relation}.${field}`
}
