import { z } from 'zod'
import { UsageError } from '../lib/errors.ts'
import { suggestion } from '../lib/text.ts'
import { readTables } from './catalogue.ts'
import { openWarehouse, publishedRows } from './warehouse.ts'

export const TABLES_HINT =
  '`agent-warehouse tables` lists the tables, `agent-warehouse tables <name>` the columns of one.'

const text = z.string().nullable()

const columnEntry = z.object({
  column_name: z.string(),
  data_type: z.string(),
  unit: text,
  /** How the metric may be summed; null if the column is no metric. */
  additivity: text,
  description: text,
})

export interface TableEntry {
  readonly table_schema: string
  readonly table_name: string
  readonly description: string | null
}

export type ColumnEntry = Readonly<z.output<typeof columnEntry>>

export interface TableDescription extends TableEntry {
  readonly columns: readonly ColumnEntry[]
}

/** The marts, then the tables of `meta`. */
export async function listTables(path: string): Promise<TableEntry[]> {
  const all = await allTables(path)
  return ['main', 'meta'].flatMap((schema) => all.filter((each) => each.table_schema === schema))
}

/**
 * One table with its columns, by its name or `<schema>.<name>`.
 *
 * @throws UsageError for an unknown name, with the nearest one.
 */
export async function describeTable(path: string, name: string): Promise<TableDescription> {
  const all = await allTables(path)
  const entry = all.find((each) => namesOf(each).includes(name.toLowerCase()))
  if (entry === undefined) {
    const known = all
      .filter(({ table_schema }) => ['main', 'meta'].includes(table_schema))
      .map((each) => namesOf(each).at(-1) ?? '')
    throw new UsageError(`there is no table '${name}'`, {
      hint: suggestion(name, known, TABLES_HINT),
    })
  }
  const names = { schema: entry.table_schema, name: entry.table_name }
  return { ...entry, columns: await publishedRows(path, 'tables/columns', columnEntry, names) }
}

/** A mart may also be named without its schema. */
function namesOf({ table_schema, table_name }: TableEntry): string[] {
  const full = `${table_schema}.${table_name}`
  return table_schema === 'main' ? [full, table_name] : [full]
}

async function allTables(path: string): Promise<TableEntry[]> {
  await using database = await openWarehouse(path)
  return (await readTables(database)).map(({ schema, name, description }) => {
    return { table_schema: schema, table_name: name, description }
  })
}
