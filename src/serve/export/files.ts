import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { columnType, isNumeric, defusedSql } from '../cells.ts'

/** A column of a mart, and what the warehouse says of it; null where it says nothing. */
export interface Column {
  readonly name: string
  /** DuckDB's name of it. */
  readonly type: string
  readonly description: string | null
  /** How a metric may be added up; null: the column is no metric. */
  readonly additivity: string | null
}

/** A table of the warehouse, its name and columns as stored, and what is said of it. */
export interface MartTable {
  readonly schema: string
  readonly name: string
  readonly description: string | null
  /** What a row is of, e.g. `org, day and user`. */
  readonly grain: string | null
  /** The columns that name a row together; none where it has no key. */
  readonly key: readonly string[]
  readonly columns: readonly Column[]
}

const PARQUET_OPTIONS = 'format parquet, compression zstd'
const CSV_OPTIONS = `format csv, header, timestampformat '%Y-%m-%dT%H:%M:%S.%fZ'`
const BYTE_ORDER_MARK = '\ufeff'

/** How a target writes one table to one file. */
export interface TableWriter {
  /** Of the file, without a dot. */
  readonly extension: string
  /** Writes every row in the order stored; resolves to their number. */
  readonly write: (database: Database, table: MartTable, path: string) => Promise<number>
}

/** Targets of which each table is a file. */
export type FileTarget = 'parquet' | 'csv'

export type ExportTarget = FileTarget | 'duckdb'

export const tableWriters: Readonly<Record<FileTarget, TableWriter>> = {
  parquet: {
    extension: 'parquet',
    write: (database, table, path) =>
      copy(database, table, table.columns.map(parquetColumn), path, PARQUET_OPTIONS),
  },
  /**
   * UTF-8 with a byte order mark, because Excel takes a file without one for
   * the machine's old code page, and BI tools and DuckDB skip it. Text that a
   * spreadsheet would run as a formula gets a leading apostrophe. NULL is an
   * empty cell and empty text `""`; timestamps are ISO 8601 in UTC.
   */
  csv: {
    extension: 'csv',
    write: (database, table, path) =>
      copy(database, table, table.columns.map(csvColumn), path, CSV_OPTIONS),
  },
}

/** DuckDB's Parquet writer turns 128-bit integers into doubles without a word. */
function parquetColumn({ name, type }: Pick<Column, 'name' | 'type'>): string {
  const column = identifier(name)
  if (type !== 'HUGEINT' && type !== 'UHUGEINT') return column
  return `cast(${column} as decimal(38, 0)) as ${column}`
}

/** The mark rides on the first name of the header: COPY has no option for it. */
function csvColumn({ name, type }: Column, at: number): string {
  const alias = identifier(at === 0 ? BYTE_ORDER_MARK + name : name)
  return `${csvExpression(identifier(name), type)} as ${alias}`
}

function csvExpression(column: string, type: string): string {
  const known = columnType(type)
  if (/^DECIMAL\(\d+,[1-9]/.test(type)) return withoutZeros(column)
  const isPlain = isNumeric(known) || known.kind === 'boolean' || known.kind === 'timestamp'
  if (isPlain || type === 'DATE') return column
  return defusedSql(type === 'VARCHAR' ? column : `cast(${column} as varchar)`)
}

/** Zeros behind the point say nothing. */
function withoutZeros(column: string): string {
  return `regexp_replace(cast(${column} as varchar), '[.]?0+$', '')`
}

async function copy(
  database: Database,
  table: MartTable,
  columns: readonly string[],
  path: string,
  options: string,
): Promise<number> {
  const source = `${identifier(table.schema)}.${identifier(table.name)}`
  const select = `select ${columns.join(', ')} from ${source}`
  const [row] = await database.rows(`copy (${select}) to ${literal(path)} (${options})`)
  return Number(row?.['Count'] ?? 0)
}
