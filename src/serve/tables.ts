import { z } from 'zod'
import { UsageError } from '../lib/errors.ts'
import { suggestion } from '../lib/text.ts'
import { publishedRows } from './warehouse.ts'

export const TABLES_HINT =
  '`agent-warehouse tables` lists the tables, `agent-warehouse tables <name>` the columns of one.'

const text = z.string().nullable()

const tableEntry = z.object({
  table_schema: z.string(),
  table_name: z.string(),
  description: text,
})

const columnEntry = z.object({
  column_name: z.string(),
  data_type: z.string(),
  unit: text,
  /** How the metric may be summed; null if the column is no metric. */
  additivity: text,
  description: text,
})

export type TableEntry = Readonly<z.output<typeof tableEntry>>
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

function allTables(path: string): Promise<TableEntry[]> {
  return publishedRows(path, 'tables/list', tableEntry)
}
