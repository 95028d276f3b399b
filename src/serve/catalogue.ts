import { z } from 'zod'
import { identifier, type Database } from '../lib/duckdb.ts'
import { statement } from '../lib/package.ts'

const tableRows = z.array(
  z.object({
    schema: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    /** `type` is DuckDB's name of the type. */
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
    /** For example `credits`; null where there is none. */
    unit: z.string().nullable(),
    /** How a metric may be summed; null if the column is no metric. */
    additivity: z.string().nullable(),
    key_position: z.coerce.number().nullable(),
  }),
)

/** A table of the warehouse with its columns and descriptions. */
export type CatalogueTable = Readonly<Awaited<ReturnType<typeof readTables>>[number]>

/** The tables and views of every schema of the database in use, with their descriptions. */
export async function readTables(database: Database) {
  const tables = tableRows.parse(await database.rows(statement('meta/tables')))
  const facts = await readFacts(database, tables)
  return tables.map(({ columns, ...table }) => {
    const own = facts.filter((fact) => fact.schema === table.schema && fact.table === table.name)
    const key = own.filter(({ key_position: position }) => position !== null)
    key.sort((a, b) => Number(a.key_position) - Number(b.key_position))
    return {
      ...table,
      /** For example `org, day and user`. */
      grain: grainOf(table.description),
      /** The columns of the key; none if the table has no key. */
      key: key.map(({ column }) => column),
      columns: columns.map((column) => {
        const fact = own.find((each) => each.column === column.name)
        return { ...column, unit: fact?.unit ?? null, additivity: fact?.additivity ?? null }
      }),
    }
  })
}

export function relationOf({ schema, name }: Pick<CatalogueTable, 'schema' | 'name'>): string {
  return `${identifier(schema)}.${identifier(name)}`
}

/** What is known of columns; nothing in a warehouse of an earlier version. */
async function readFacts(
  database: Database,
  tables: z.output<typeof tableRows>,
): Promise<z.output<typeof columnRows>> {
  const catalogue = tables.find(({ schema, name }) => schema === 'meta' && name === 'columns')
  const names = catalogue?.columns.map(({ name }) => name) ?? []
  if (!names.includes('key_position')) return []
  return columnRows.parse(await database.rows(statement('tables/columns')))
}

/** The grain, with which every description of a mart begins. */
export function grainOf(description: string | null): string | null {
  const match = /^One row per (?<grain>[^.:;]+)/.exec(description ?? '')
  return match?.groups?.['grain']?.trim() ?? null
}
