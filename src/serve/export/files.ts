import { identifier, literal, Database } from '../../lib/duckdb.ts'
import { defusedSql, isNumeric, isTimestamp } from '../cells.ts'
import { BYTE_ORDER_MARK } from '../spreadsheet.ts'
import { relationOf, type CatalogueTable } from '../tables.ts'
import { dirname, resolve } from 'node:path'
import { packageRoot } from '../../lib/package.ts'
import { ownSpillFolder } from '../../lib/spill.ts'

type Column = CatalogueTable['columns'][number]

/** The column expressions and the options of DuckDB's COPY, by target. */
const FILE_TARGETS = {
  parquet: { column: parquetColumn, options: 'format parquet, compression zstd' },
  /**
   * UTF-8 with a byte order mark. Text that a spreadsheet would run as a formula
   * gets a leading apostrophe. NULL is an empty cell and empty text `""`;
   * timestamps are ISO 8601 in UTC.
   */
  csv: {
    column: csvColumn,
    options: `format csv, header, timestampformat '%Y-%m-%dT%H:%M:%S.%fZ'`,
  },
} as const

/** Targets with one file per table; the name is also the ending. */
type FileTarget = keyof typeof FILE_TARGETS

export type ExportTarget = FileTarget | 'duckdb'

/** Writes every row of a table in the stored order; resolves to the row count. */
export async function writeFile(
  database: Database,
  target: FileTarget,
  table: CatalogueTable,
  path: string,
): Promise<number> {
  const { column, options } = FILE_TARGETS[target]
  const select = `select ${table.columns.map(column).join(', ')} from ${relationOf(table)}`
  const [row] = await database.rows(`copy (${select}) to ${literal(path)} (${options})`)
  return Number(row?.['Count'] ?? 0)
}

/** DuckDB's Parquet writer would silently turn 128-bit integers into doubles. */
function parquetColumn({ name, type }: Column): string {
  const column = identifier(name)
  if (type !== 'HUGEINT' && type !== 'UHUGEINT') return column
  return `cast(${column} as decimal(38, 0)) as ${column}`
}

/** Puts the mark before the first name of the header, because COPY has no option for it. */
function csvColumn({ name, type }: Column, at: number): string {
  const alias = identifier(at === 0 ? BYTE_ORDER_MARK + name : name)
  return `${csvExpression(identifier(name), type)} as ${alias}`
}

function csvExpression(column: string, type: string): string {
  const text = `cast(${column} as varchar)`
  // without trailing zeros after the point
  if (/^DECIMAL\(\d+,[1-9]/.test(type)) return `regexp_replace(${text}, '[.]?0+$', '')`
  const isPlain = isNumeric(type) || isTimestamp(type) || ['BOOLEAN', 'DATE'].includes(type)
  if (isPlain) return column
  return defusedSql(type === 'VARCHAR' ? column : text)
}

/** The oldest storage format that supports the warehouse: DuckDB 1.0 and later open it. */
const STORAGE_VERSION = 'v1.0.0'

/**
 * Writes tables and views of the warehouse to one file, as tables with their comments.
 * The file depends on no other file, and contains no paths of the machine. Resolves to the
 * row counts of the tables.
 */
export async function writeDatabase(
  warehouse: string,
  tables: readonly CatalogueTable[],
  path: string,
  signal: AbortSignal,
): Promise<number[]> {
  const tempDirectory = ownSpillFolder(dirname(warehouse))
  await using database = await Database.open(':memory:', { tempDirectory, signal })
  await database.run(
    `attach ${literal(warehouse)} as warehouse (read_only);
    attach ${literal(path)} as export (storage_version ${literal(STORAGE_VERSION)});
    use warehouse`,
  )
  const rows = []
  for (const table of tables) {
    const relation = relationOf(table)
    await database.run(
      `create schema if not exists export.${identifier(table.schema)};
      create table export.${relation} as ${selectOf(table, warehouse, tables)}`,
    )
    await database.run(commentsOf(table))
    const [row] = await database.rows(`select count(*) as rows from export.${relation}`)
    rows.push(Number(row?.['rows'] ?? 0))
  }
  await database.run('use memory; checkpoint export; detach export')
  return rows
}

/** In `meta`, replaces paths of files and drops rows about relations that are not exported. */
function selectOf(
  table: CatalogueTable,
  warehouse: string,
  tables: readonly CatalogueTable[],
): string {
  const relation = relationOf(table)
  if (table.schema !== 'meta') return `select * from ${relation}`
  const places: [string, string][] = [
    [resolve(dirname(warehouse)), '<data>'],
    [packageRoot, '<package>'],
  ]
  const texts = table.columns.filter(({ type }) => type === 'VARCHAR')
  const replaced = texts.map(({ name }) => {
    const column = identifier(name)
    const without = places.reduce(
      (sql, [place, mark]) => `replace(${sql}, ${literal(place)}, ${literal(mark)})`,
      column,
    )
    return `${without} as ${column}`
  })
  const select = `select *${replaced.length === 0 ? '' : ` replace (${replaced.join(', ')})`} from ${relation}`
  if (table.name !== 'columns') return select
  const exported = tables.map(({ schema, name }) => `(${literal(schema)}, ${literal(name)})`)
  return `${select} where (table_schema, table_name) in (${exported.join(', ')})`
}

function commentsOf(table: CatalogueTable): string {
  const relation = `export.${relationOf(table)}`
  const comment = (what: string, text: string | null): string[] =>
    text === null ? [] : [`comment on ${what} is ${literal(text)}`]
  return [
    ...comment(`table ${relation}`, table.description),
    ...table.columns.flatMap(({ name, description }) =>
      comment(`column ${relation}.${identifier(name)}`, description),
    ),
    'select 1',
  ].join(';\n')
}
