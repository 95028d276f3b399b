import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { columnType, defusedSql, isNumeric } from '../cells.ts'
import { BYTE_ORDER_MARK } from '../spreadsheet.ts'
import { relationOf, type CatalogueTable } from '../catalogue.ts'

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
  const known = columnType(type)
  const text = `cast(${column} as varchar)`
  // without trailing zeros after the point
  if (/^DECIMAL\(\d+,[1-9]/.test(type)) return `regexp_replace(${text}, '[.]?0+$', '')`
  const isPlain = isNumeric(known) || known.kind === 'boolean' || known.kind === 'timestamp'
  if (isPlain || type === 'DATE') return column
  return defusedSql(type === 'VARCHAR' ? column : text)
}
