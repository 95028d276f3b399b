import { dirname, resolve } from 'node:path'
import { Database, identifier, literal } from '../../lib/duckdb.ts'
import { packageRoot } from '../../lib/package.ts'
import { ownSpillFolder } from '../../lib/spill.ts'
import { relationOf, type CatalogueTable } from '../catalogue.ts'

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
  const there = tables.map(({ schema, name }) => `(${literal(schema)}, ${literal(name)})`)
  return `${select} where (table_schema, table_name) in (${there.join(', ')})`
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
