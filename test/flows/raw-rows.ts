import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { rawFolder } from '../../src/lake/layout.ts'
import { rawDays } from '../../src/lake/raw-days.ts'
import { rowsSql } from '../../src/lake/merged.ts'
import { Database, literal, type Row } from '../../src/lib/duckdb.ts'

const COLUMNS = 'item, ordinal, page, fetched_at, request, request_id, run_id'

/** Every raw row by resource, as a reader sees it that does not know versions. */
export async function rawRows(
  data: string,
  { isDistinct = false } = {},
): Promise<Record<string, Row[]>> {
  await using database = await Database.open(':memory:')
  const rows: Record<string, Row[]> = {}
  for (const resource of await readdir(join(data, 'lake', 'raw'))) {
    const glob = literal(join(data, 'lake', 'raw', resource, '**', '*.parquet'))
    rows[resource] = await database.rows(
      `select ${isDistinct ? 'distinct' : ''} org, ${COLUMNS}
      from read_parquet(${glob}, hive_partitioning = true) order by all`,
    )
  }
  return rows
}

/** Every raw row by resource, with its version, as the stages after raw read it. */
export async function rowsOfVersions(data: string, orgId: string): Promise<Record<string, Row[]>> {
  await using database = await Database.open(':memory:')
  const paths = new Map<string, string[]>()
  for (const { resource, day, versions } of await rawDays(data, orgId)) {
    const own = versions.map((file) => join(rawFolder(data, orgId, resource, day), file))
    paths.set(resource, [...(paths.get(resource) ?? []), ...own])
  }
  const rows: Record<string, Row[]> = {}
  for (const [resource, own] of paths) {
    const version = `substr(filename, ${data.length + 1}) as version`
    const sql = `select ${version}, ${COLUMNS} from ${rowsSql(own)} order by all`
    rows[resource] = await database.rows(sql)
  }
  return rows
}

/** The raw files of a data folder. */
export async function rawFiles(data: string): Promise<string[]> {
  const entries = await readdir(join(data, 'lake', 'raw'), { recursive: true })
  return entries.filter((name) => name.endsWith('.parquet')).sort()
}
