import { z } from 'zod'
import type { Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import type { MartTable } from './files.ts'

const tableRows = z.array(
  z.object({
    schema: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    columns: z.array(
      z.object({ name: z.string(), type: z.string(), description: z.string().nullable() }),
    ),
  }),
)

const columnRows = z.array(
  z.object({
    schema: z.string(),
    table: z.string(),
    column: z.string(),
    additivity: z.string().nullable(),
    key_position: z.coerce.number().nullable(),
  }),
)

/** The tables and views of every schema of the database in use, and what is said of them. */
export async function readTables(database: Database): Promise<MartTable[]> {
  const tables = tableRows.parse(await database.rows(statement('meta/tables')))
  const facts = await readFacts(database, tables)
  return tables.map(({ schema, name, description, columns }) => {
    const own = facts.filter((fact) => fact.schema === schema && fact.table === name)
    const key = own.filter(({ key_position: position }) => position !== null)
    key.sort((a, b) => Number(a.key_position) - Number(b.key_position))
    return {
      schema,
      name,
      description,
      grain: grainOf(description),
      key: key.map(({ column }) => column),
      columns: columns.map((column) => {
        const fact = own.find((each) => each.column === column.name)
        return { ...column, additivity: fact?.additivity ?? null }
      }),
    }
  })
}

/** What `meta.columns` says; nothing in a warehouse of an earlier version. */
async function readFacts(
  database: Database,
  tables: z.output<typeof tableRows>,
): Promise<z.output<typeof columnRows>> {
  const catalogue = tables.find(({ schema, name }) => schema === 'meta' && name === 'columns')
  const names = catalogue?.columns.map(({ name }) => name) ?? []
  if (!names.includes('key_position')) return []
  return columnRows.parse(
    await database.rows(
      `select table_schema as schema, table_name as table, column_name as column, additivity,
      key_position from meta.columns where additivity is not null or key_position is not null`,
    ),
  )
}

/** What a row is of: every description of a mart begins with it. */
export function grainOf(description: string | null): string | null {
  const match = /^One row per (?<grain>[^.:;]+)/.exec(description ?? '')
  return match?.groups?.['grain']?.trim() ?? null
}
