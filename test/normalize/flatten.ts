import { createHash } from 'node:crypto'
import { ENTITIES } from '../../src/lake/resources.ts'
import { MACROS, parsedSql } from '../../src/normalize/batch.ts'
import { Database, type Cell } from '../../src/lib/duckdb.ts'
import { statement } from '../../src/lib/package.ts'
import type { Entity } from './columns.ts'

/** One raw row; `item` is JSON text, or a value to write as JSON. */
export interface RawItem {
  readonly item: unknown
  readonly day?: string
  readonly org?: string
  readonly page?: number
  readonly ordinal?: number
  readonly request?: string
}

/** A database with the macros, as the runner prepares it. The caller closes it. */
export async function openBase(): Promise<Database> {
  const database = await Database.open(':memory:')
  await database.run(`create table raw_rows (
    org_id varchar, activity_date date, day_digest varchar, item varchar, ordinal bigint, page bigint,
    fetched_at timestamptz, request varchar, request_id varchar, run_id varchar)`)
  await database.run('create temp view raw as select * from raw_rows')
  await database.run(MACROS)
  return database
}

/** Replaces the raw rows that the statements read. */
export async function putRaw(database: Database, items: readonly RawItem[]): Promise<void> {
  await database.run('delete from raw_rows')
  for (const [index, raw] of items.entries()) {
    await database.rows(
      `insert into raw_rows values ($1, cast($2 as date), $3, $4, $5, $6,
        timestamptz '2026-02-01 06:00:00+00', $7, 'req', 'run')`,
      [
        raw.org ?? 'org-1',
        raw.day ?? '2026-01-14',
        digestOf(items.filter(({ org, day }) => org === raw.org && day === raw.day)),
        typeof raw.item === 'string' ? raw.item : JSON.stringify(raw.item),
        raw.ordinal ?? index,
        raw.page ?? 0,
        raw.request ?? '/path',
      ],
    )
  }
}

/** Stands for the digest of a version. */
function digestOf(items: readonly RawItem[]): string {
  return createHash('sha256').update(JSON.stringify(items)).digest('hex').slice(0, 12)
}

/** Reads the raw rows for the entity, and returns the statement of its rows. */
export async function entitySql(database: Database, entity: string): Promise<string> {
  const resource = ENTITIES.get(entity) ?? ''
  await database.run(parsedSql(resource))
  await database.run(statement('base/steps/repeated_keys'))
  await database.run(statement('base/steps/displaced'))
  return statement(`base/${entity}`)
}

/** The rows of an entity as arrays, in a fixed order, columns as named. */
export async function flatten(
  database: Database,
  entity: Entity,
  items: readonly RawItem[],
  columns: readonly string[],
): Promise<(readonly Cell[])[]> {
  await putRaw(database, items)
  const select = await entitySql(database, entity)
  const table = await database.table(`select ${columns.join(', ')} from (${select}) order by all`)
  return [...table.rows]
}
