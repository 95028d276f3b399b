import { z } from 'zod'
import { Database, type Row } from '../lib/duckdb.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'
import { rowsSql } from './merged.ts'

const ROWS = statement('raw/rows')

const rawRow = z.object({
  item: z.string(),
  ordinal: z.coerce.number(),
  page: z.coerce.number(),
  fetched_at: z.coerce.number(),
  request: z.string(),
  request_id: z.string().nullable(),
  run_id: z.string(),
})

/** A row of a version, and where it comes from. */
export interface StoredRow {
  readonly item: string
  readonly ordinal: number
  readonly origin: {
    readonly page: number
    /** Milliseconds since the epoch. */
    readonly fetchedAt: number
    readonly request: string
    readonly requestId: string | null
    readonly runId: string
  }
}

/**
 * The rows of one version in the lake, as served, in order.
 *
 * @returns null for a file that cannot be read.
 */
export async function readRows(path: string): Promise<readonly StoredRow[] | null> {
  const rows = z.array(rawRow).safeParse(await read(path)).data ?? null
  return rows?.map(storedRow) ?? null
}

function storedRow(row: z.infer<typeof rawRow>): StoredRow {
  const { item, ordinal, page, fetched_at: fetchedAt, request, request_id: requestId } = row
  return { item, ordinal, origin: { page, fetchedAt, request, requestId, runId: row.run_id } }
}

/** Uses a separate database: reading a damaged file may leave a database unusable. */
async function read(path: string): Promise<readonly Row[] | null> {
  await using database = await Database.open(':memory:', processLimits().verificationOfOne)
  return await database.rows(fill(ROWS, { rows: rowsSql([path]) })).catch(() => null)
}
