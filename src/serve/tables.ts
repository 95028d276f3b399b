import { UsageError } from '../lib/errors.ts'
import { suggestion } from '../lib/text.ts'
import { readTables, type CatalogueTable } from './catalogue.ts'
import { openWarehouse } from './warehouse.ts'

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
