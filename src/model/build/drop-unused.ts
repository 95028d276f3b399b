import { z } from 'zod'
import { identifier, type Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'

const relationRows = z.array(
  z.object({ schema: z.string(), name: z.string(), kind: z.enum(['table', 'view']) }),
)

/**
 * Drops every table and view in the database in use but the `kept` ones
 * (`schema.name`): what is built next to them is then as in a new file, and
 * the checkpoint lets it have their space.
 */
export async function dropAllBut(db: Database, kept: readonly string[]): Promise<void> {
  const found = relationRows.parse(await db.rows(statement('meta/relations')))
  const drops = found
    .filter(({ schema, name }) => !kept.includes(`${schema}.${name}`))
    .map(({ schema, name, kind }) => `drop ${kind} ${identifier(schema)}.${identifier(name)}`)
  if (drops.length === 0) return
  await db.run(drops.join(';\n'))
  await db.run('checkpoint')
}
