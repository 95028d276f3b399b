import { UsageError } from '../lib/errors.ts'
import { suggestion } from '../lib/text.ts'
import { openWarehouse, rowsOf } from './warehouse.ts'
import { z } from 'zod'
import { identifier, type Database } from '../lib/duckdb.ts'

export const TABLES_HINT =
  '`agent-warehouse tables` lists the tables, `agent-warehouse tables <name>` the columns of one.'

export type TableEntry = Readonly<ReturnType<typeof entryOf>>
export type TableDescription = Readonly<Awaited<ReturnType<typeof describeTable>>>
export type ColumnEntry = Readonly<TableDescription['columns'][number]>

/** The marts, then the tables of `meta`. */
export async function listTables(path: string): Promise<TableEntry[]> {
  return listed(await allTables(path))
}

function listed(all: readonly CatalogueTable[]): TableEntry[] {
  return ['main', 'meta'].flatMap((name) =>
    all.filter(({ schema }) => schema === name).map(entryOf),
  )
}

/**
 * One table with its columns, by its name or `<schema>.<name>`.
 *
 * @throws UsageError for an unknown name, with the nearest one.
 */
export async function describeTable(path: string, name: string) {
  const all = await allTables(path)
  const found = all.find((table) => namesOf(entryOf(table)).includes(name.toLowerCase()))
  if (found === undefined) {
    const known = listed(all).map((each) => namesOf(each).at(-1) ?? '')
    throw new UsageError(`there is no table '${name}'`, {
      hint: suggestion(name, known, TABLES_HINT),
    })
  }
  const columns = found.columns.map(({ name: column, type, unit, additivity, description }) => {
    return { column_name: column, data_type: type, unit, additivity, description }
  })
  return { ...entryOf(found), columns }
}

function entryOf({ schema, name, description }: CatalogueTable) {
  return { table_schema: schema, table_name: name, description }
}

/** A mart may also be named without its schema. */
function namesOf({ table_schema, table_name }: TableEntry): string[] {
  const full = `${table_schema}.${table_name}`
  return table_schema === 'main' ? [full, table_name] : [full]
}

async function allTables(path: string): Promise<CatalogueTable[]> {
  await using database = await openWarehouse(path)
  return await readTables(database)
}

const tableRow = z.object({
  schema: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** `type` is DuckDB's name of the type. */
  columns: z.array(
    z.object({ name: z.string(), type: z.string(), description: z.string().nullable() }),
  ),
})

const columnRow = z.object({
  schema: z.string(),
  table: z.string(),
  column: z.string(),
  /** For example `credits`; null where there is none. */
  unit: z.string().nullable(),
  /** How a metric may be summed; null if the column is no metric. */
  additivity: z.string().nullable(),
  key_position: z.coerce.number().nullable(),
})

/** A table of the warehouse with its columns and descriptions. */
export type CatalogueTable = Readonly<Awaited<ReturnType<typeof readTables>>[number]>

/** The tables and views of every schema of the database in use, with their descriptions. */
export async function readTables(database: Database) {
  const tables = await rowsOf(database, 'meta/tables', tableRow)
  // in a warehouse of an earlier version, nothing more is known of columns
  const hasFacts = tables
    .find(({ schema, name }) => schema === 'meta' && name === 'columns')
    ?.columns.some(({ name }) => name === 'key_position')
  const facts = hasFacts === true ? await rowsOf(database, 'tables/columns', columnRow) : []
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

/** The grain, with which every description of a mart begins. */
export function grainOf(description: string | null): string | null {
  const match = /^One row per (?<grain>[^.:;]+)/.exec(description ?? '')
  return match?.groups?.['grain']?.trim() ?? null
}
