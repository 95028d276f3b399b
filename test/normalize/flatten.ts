import { Database, type Cell } from '../../src/store/duckdb.ts'
import { statement } from '../../src/store/root.ts'
import type { Entity } from './columns.ts'

/** One raw row; `item` is JSON text, or a value to be written as such. */
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
    org_id varchar, activity_date date, item varchar, ordinal bigint, page bigint,
    fetched_at timestamptz, request varchar, request_id varchar, run_id varchar)`)
  await database.run('create temp view raw as select * from raw_rows')
  await database.run(statement('lake/macros'))
  await database.run(statement('base/_macros'))
  return database
}

/** Replaces the raw rows that the statements read. */
export async function putRaw(database: Database, items: readonly RawItem[]): Promise<void> {
  await database.run('delete from raw_rows')
  for (const [index, raw] of items.entries()) {
    await database.rows(
      `insert into raw_rows values ($1, cast($2 as date), $3, $4, $5,
        timestamptz '2026-02-01 06:00:00+00', $6, 'req', 'run')`,
      [
        raw.org ?? 'org-1',
        raw.day ?? '2026-01-14',
        typeof raw.item === 'string' ? raw.item : JSON.stringify(raw.item),
        raw.ordinal ?? index,
        raw.page ?? 0,
        raw.request ?? '/path',
      ],
    )
  }
}

/** The rows of an entity as arrays, in a fixed order, columns as named. */
export async function flatten(
  database: Database,
  entity: Entity,
  items: readonly RawItem[],
  columns: readonly string[],
): Promise<(readonly Cell[])[]> {
  await putRaw(database, items)
  const table = await database.table(
    `select ${columns.join(', ')} from (${statement(`base/${entity}`)}) order by all`,
  )
  return [...table.rows]
}
