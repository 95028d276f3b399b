import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { messageOf, UsageError } from '../lib/errors.ts'
import { Database } from '../lib/duckdb.ts'
import { isMissing } from '../lib/files.ts'
import { statement } from '../lib/package.ts'
import { ownSpillFolder } from '../lib/disk.ts'
import { freshnessOf, type Freshness, type FreshnessLimits } from '../lib/days.ts'

/**
 * Opens the published warehouse for reading. A run may publish meanwhile: it
 * renames a new file into place, and this reader keeps the one it has opened.
 *
 * @throws UsageError when there is no file, or when it is not a database that can be read.
 */
export async function openWarehouse(path: string): Promise<Database> {
  await requireFile(path)
  try {
    const tempDirectory = ownSpillFolder(dirname(path))
    return await Database.open(path, { readOnly: true, tempDirectory })
  } catch (error) {
    throw new UsageError(`the warehouse ${path} cannot be read: ${sqlMessage(error)}`, {
      hint: 'Close programs that hold it open for writing, or build it again: `agent-warehouse build`.',
      cause: error,
    })
  }
}

/** What reading the published warehouse comes to. @throws UsageError as `openWarehouse` does. */
export async function withWarehouse<T>(
  path: string,
  read: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openWarehouse(path)
  try {
    return await read(database)
  } finally {
    database.close()
  }
}

/** What a warehouse says of how it was built. Times are ISO 8601, UTC. */
export interface PublishedBuild {
  readonly runId: string
  readonly builtAt: string
  /** The point in time whose data it holds; null: all that had landed. */
  readonly asOf: string | null
}

const buildRows = z.array(
  z.object({ run_id: z.string(), built_ms: z.coerce.number(), as_of_ms: z.string().nullable() }),
)

/** What the warehouse at `path` says of itself; null where there is none that can be read. */
export async function publishedBuild(path: string): Promise<PublishedBuild | null> {
  try {
    const rows = await withWarehouse(path, (database) =>
      database.rows(statement('meta/published_build')),
    )
    const [build] = buildRows.parse(rows)
    if (build === undefined) return null
    const iso = (ms: number | string): string => new Date(Number(ms)).toISOString()
    return {
      runId: build.run_id,
      builtAt: iso(build.built_ms),
      asOf: build.as_of_ms === null ? null : iso(build.as_of_ms),
    }
  } catch {
    return null // none, or one of an earlier version
  }
}

/** DuckDB's message in one line: its hints stay, the picture of the statement goes. */
export function sqlMessage(error: unknown): string {
  const [told = ''] = messageOf(error).split(/\n\s*LINE \d+:/)
  return told.replaceAll(/\s+/g, ' ').trim()
}

async function requireFile(path: string): Promise<void> {
  try {
    await stat(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new UsageError(`there is no published warehouse at ${path}`, {
      hint: 'Run `agent-warehouse run` first, or `agent-warehouse demo`, which needs no credential.',
      cause: error,
    })
  }
}

/** How fresh a table of a source is now. */
export interface SourceFreshness extends FreshnessLimits {
  /** `source.table` */
  readonly source: string
  /** When its newest row was fetched, ISO 8601, UTC. */
  readonly loadedAt: string
  readonly ageSeconds: number
  readonly status: Freshness
}

const rowsShape = z.array(
  z.object({
    source: z.string(),
    loaded_ms: z.coerce.number(),
    warn_after_seconds: z.coerce.number().nullable(),
    error_after_seconds: z.coerce.number().nullable(),
  }),
)

/**
 * The sources that are expected to be fresh, as the warehouse at `path` knows
 * them, judged at `now` (milliseconds since the epoch). Empty where there is no
 * warehouse that can be read, and with one of an earlier version.
 */
export async function readSourceFreshness(path: string, now: number): Promise<SourceFreshness[]> {
  try {
    const rows = await withWarehouse(path, (database) =>
      database.rows(statement('meta/published_freshness')),
    )
    return rowsShape.parse(rows).map((row) => judged(row, now))
  } catch {
    return []
  }
}

function judged(row: z.output<typeof rowsShape>[number], now: number): SourceFreshness {
  const limits = {
    warnAfterSeconds: row.warn_after_seconds,
    errorAfterSeconds: row.error_after_seconds,
  }
  const ageMs = now - row.loaded_ms
  return {
    source: row.source,
    loadedAt: new Date(row.loaded_ms).toISOString(),
    ageSeconds: Math.floor(ageMs / 1000),
    ...limits,
    status: freshnessOf(ageMs, limits),
  }
}
