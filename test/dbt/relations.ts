import { Database, identifier, literal, type Cell, type Row } from '../../src/lib/duckdb.ts'

/** Two databases that should be equal. */
export interface Pair {
  readonly ours: string
  readonly theirs: string
}

/** dbt writes no comments on the rows that its tests store. */
const COMMENT = "case when schema_name != 'audit' then comment end as comment"

/** Every table and view outside `meta`, with its kind and comment. */
const RELATIONS = `
  select schema_name, table_name as name, 'table' as kind, ${COMMENT} from duckdb_tables()
  where database_name = current_database() and not internal and schema_name != 'meta'
  union all
  select schema_name, view_name, 'view', comment from duckdb_views()
  where database_name = current_database() and not internal and schema_name != 'meta'
  order by 1, 2`

const COLUMNS = `
  select schema_name, table_name, column_name, column_index, data_type, ${COMMENT}
  from duckdb_columns()
  where database_name = current_database() and not internal and schema_name != 'meta'
  order by 1, 2, 4`

/** Tables, views and columns with their types and comments. */
export async function catalogueOf(path: string): Promise<{ relations: Row[]; columns: Row[] }> {
  const db = await Database.open(path, { readOnly: true })
  try {
    return { relations: await db.rows(RELATIONS), columns: await db.rows(COLUMNS) }
  } finally {
    db.close()
  }
}

/** The relations whose rows differ, with the number of rows that only one side has, duplicates counted. */
export async function differencesOf({ ours, theirs }: Pair): Promise<Row[]> {
  const db = await Database.open(':memory:')
  try {
    await db.run(`attach ${literal(ours)} as warehouse (read_only);
      attach ${literal(theirs)} as dbt (read_only); use warehouse`)
    const different: Row[] = []
    for (const [schema, name] of (await db.table(RELATIONS)).rows) {
      const relation = [schema, name].map((part) => identifier(textOf(part))).join('.')
      const only = (a: string, b: string): string =>
        `(select count(*) from (from ${a}.${relation} except all from ${b}.${relation}))`
      const [row] = await db.rows(
        `select ${only('warehouse', 'dbt')} as only_ours, ${only('dbt', 'warehouse')} as only_theirs`,
      )
      if (row?.['only_ours'] === '0' && row['only_theirs'] === '0') continue
      different.push({ relation, ...row })
    }
    return different
  } finally {
    db.close()
  }
}

/** A name in a result. */
export function textOf(cell: Cell | undefined): string {
  if (typeof cell === 'string') return cell
  throw new Error(`a name is not text: ${JSON.stringify(cell)}`)
}
