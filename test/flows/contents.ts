import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, identifier, literal, type Row } from '../../src/lib/duckdb.ts'
import { listIfThere } from '../../src/lib/files.ts'

/** Digest of the rows of each published mart, without fetch times. */
export async function martsOf(dataFolder: string): Promise<Record<string, string>> {
  const path = join(dataFolder, 'warehouse.duckdb')
  const warehouse = await Database.open(path, { readOnly: true })
  try {
    const { rows } = await warehouse.table(
      `select distinct table_name from information_schema.tables
      where table_schema = 'main' order by 1`,
    )
    const marts: Record<string, string> = {}
    for (const [name] of rows) {
      const mart = textOf(name)
      marts[mart] = digestOf(await textsOf(warehouse, `main.${mart}`))
    }
    return marts
  } finally {
    warehouse.close()
  }
}

/** Every row of base, by entity. */
export async function baseOf(dataFolder: string): Promise<Record<string, Row[]>> {
  await using database = await Database.open(':memory:')
  const rows: Record<string, Row[]> = {}
  for (const entity of await readdir(join(dataFolder, 'lake', 'base'))) {
    const glob = literal(join(dataFolder, 'lake', 'base', entity, '*', '*', 'data.parquet'))
    rows[entity] = await database.rows(`from read_parquet(${glob}) order by all`)
  }
  return rows
}

/**
 * Digest of each day in the lake, by `resource/day`: the rows of the newest version, of a
 * repeated user the row of the later page. Days without rows have no entry.
 */
export async function daysOf(dataFolder: string): Promise<Record<string, string>> {
  const raw = join(dataFolder, 'lake', 'raw')
  if ((await filesIn(raw)).length === 0) return {}
  const database = await Database.open(':memory:')
  try {
    const { rows } = await database.table(
      `select split_part(parse_path(filename)[-4], '/', 1), parse_path(filename)[-2][6:], item
      from read_parquet(${literal(`${raw}/*/*/*/*.parquet`)}, filename = true, hive_partitioning = false)
      qualify filename = max(filename) over (partition by parse_dirpath(filename))
      order by page, ordinal`,
    )
    const days = new Map<string, Map<string, string>>()
    for (const [resource, day, item] of rows) {
      const key = `${textOf(resource)}/${textOf(day)}`
      const text = textOf(item)
      const entity = resource === 'users' ? (/"user_id":"([^"]*)"/.exec(text)?.[1] ?? text) : text
      days.set(key, (days.get(key) ?? new Map<string, string>()).set(entity, text))
    }
    return Object.fromEntries([...days].map(([day, found]) => [day, digestOf([...found.values()])]))
  } finally {
    database.close()
  }
}

/** Rows as text, without the columns of fetch times. */
async function textsOf(database: Database, relation: string): Promise<string[]> {
  const { columns, types } = await database.table(`select * from ${relation} limit 0`)
  const kept = columns.filter((_, index) => types[index]?.startsWith('TIMESTAMP') !== true)
  const row = `cast(row(${kept.map(identifier).join(', ')}) as varchar)`
  const { rows } = await database.table(`select ${row} from ${relation}`)
  return rows.map(([value]) => textOf(value))
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${typeof value} where a text should be`)
  return value
}

function digestOf(rows: readonly string[]): string {
  const digest = createHash('sha256').update(rows.toSorted().join('\n')).digest('hex')
  return `${rows.length} rows, ${digest.slice(0, 16)}`
}

/** Every version in the lake: resource, day and digest, without the time it was fetched at. */
export async function versionsOf(dataFolder: string): Promise<string[]> {
  const files = await filesIn(join(dataFolder, 'lake', 'raw'))
  return files.map((file) => file.replace(/\/[^/]*-(?=[0-9a-f]{16}\.parquet$)/, '/')).sort()
}

/** The kinds of files in a folder, at any depth, with what differs from run to run left out. */
export async function kindsOfFiles(dataFolder: string): Promise<string[]> {
  // whether a warehouse was published before depends on how many runs there were
  const files = (await filesIn(dataFolder)).filter(
    (file) => !/^published\/[0-9TZ]+-[0-9a-f]{6}\.duckdb$/.test(file),
  )
  const kinds = files.map((file) =>
    file
      .replace(/^runs\/\d{8}T\d{6}Z-[0-9a-f]{6}\.json$/, 'runs/*.json')
      .replace(/\d{8}T\d{9}Z-([0-9a-f]{16}|[0-9a-f]{64})\.parquet$/, '*.parquet')
      .replace(/(?<=date=)\d{4}-\d\d-\d\d/, '*')
      .replace(/(?<=lake\/(base|raw)\/)[a-z_]+/, '*'),
  )
  return [...new Set(kinds)].sort()
}

async function filesIn(folder: string): Promise<string[]> {
  if ((await listIfThere(folder)).length === 0) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
