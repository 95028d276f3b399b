import { z } from 'zod'
import { Database } from '../lib/duckdb.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'
import { rowsSql } from './merged.ts'

const ROWS = statement('raw/rows')

const storedRows = z.array(
  z
    .object({
      item: z.string(),
      ordinal: z.coerce.number(),
      page: z.coerce.number(),
      fetched_at: z.coerce.number(),
      request: z.string(),
      request_id: z.string().nullable(),
      run_id: z.string(),
    })
    .transform(({ item, ordinal, page, request, ...row }): StoredRow => {
      const { fetched_at: fetchedAt, request_id: requestId, run_id: runId } = row
      return { item, ordinal, origin: { page, fetchedAt, request, requestId, runId } }
    }),
)

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
  // in a separate database: reading a damaged file may leave a database unusable
  await using database = await Database.open(':memory:', processLimits().verificationOfOne)
  return await readRowsOfVerified(database, path)
}

/**
 * The same for a verified file, in an open database, which takes a quarter of the time. A damaged
 * file may leave the database unusable: use `readRows` for a file that was not verified.
 */
export async function readRowsOfVerified(
  database: Database,
  path: string,
): Promise<readonly StoredRow[] | null> {
  const rows = await database.rows(fill(ROWS, { rows: rowsSql([path]) })).catch(() => null)
  return storedRows.safeParse(rows).data ?? null
}
