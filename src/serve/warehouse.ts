import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { PublishedRecord } from '../lake/published.ts'
import { messageOf, UsageError } from '../lib/errors.ts'
import { Database } from '../lib/duckdb.ts'
import { orIfMissing } from '../lib/files.ts'
import { statement } from '../lib/package.ts'
import { ownSpillFolder } from '../lib/spill.ts'
import { freshnessOf } from '../lib/days.ts'

/**
 * Opens the published warehouse for reading. If a run publishes meanwhile, it
 * renames a new file into place, and this reader keeps the old one. Reading ends when the signal
 * aborts.
 *
 * @throws UsageError if there is no file, or it is not a readable database; the error of the file
 *   system if this user may not read it.
 */
export async function openWarehouse(path: string, signal?: AbortSignal): Promise<Database> {
  const file = await orIfMissing(stat(path), undefined)
  if (file === undefined) {
    throw new UsageError(`there is no published warehouse at ${path}`, {
      hint: 'Run `agent-warehouse run` first, or `agent-warehouse demo`, which needs no credential.',
    })
  }
  await access(path, constants.R_OK) // DuckDB's refusal would not say whose step is next
  try {
    const tempDirectory = ownSpillFolder(dirname(path))
    return await Database.open(path, { readOnly: true, tempDirectory, signal })
  } catch (error) {
    throw new UsageError(`the warehouse ${path} cannot be read: ${sqlMessage(error)}`, {
      hint: 'Close programs that have it open for writing, or build it again: `agent-warehouse build`.',
      cause: error,
    })
  }
}

/** The rows of a statement of `sql/`. */
export async function rowsOf<T>(database: Database, name: string, row: z.ZodType<T>): Promise<T[]> {
  return z.array(row).parse(await database.rows(statement(name)))
}

/** The same on the published warehouse. @throws UsageError as `openWarehouse` does. */
export async function publishedRows<T>(
  path: string,
  name: string,
  row: z.ZodType<T>,
): Promise<T[]> {
  await using database = await openWarehouse(path)
  return await rowsOf(database, name, row)
}

/** The build of a warehouse, as its `meta` says. Times are ISO 8601, UTC. */
export type PublishedBuild = Pick<PublishedRecord, 'runId' | 'builtAt' | 'asOf'>

const buildRow = z.object({
  run_id: z.string(),
  built_ms: z.coerce.number(),
  as_of_ms: z.coerce.number().nullable(),
})

/** The build of the warehouse at `path`; null if there is none, or it is unreadable. */
export async function publishedBuild(path: string): Promise<PublishedBuild | null> {
  try {
    await using database = await openWarehouse(path)
    return await buildOf(database)
  } catch {
    return null
  }
}

/** The build of an open warehouse; null in one of an earlier version. */
export async function buildOf(database: Database): Promise<PublishedBuild | null> {
  const [build] = await rowsOf(database, 'meta/published_build', buildRow).catch(() => [])
  if (build === undefined) return null
  const { run_id: runId, built_ms, as_of_ms } = build
  const asOf = as_of_ms === null ? null : new Date(as_of_ms).toISOString()
  return { runId, builtAt: new Date(built_ms).toISOString(), asOf }
}

/** DuckDB's message on one line, with its hints, but without the excerpt of the statement. */
export function sqlMessage(error: unknown): string {
  const [message = ''] = messageOf(error).split(/\n\s*LINE \d+:/)
  return message.replaceAll(/\s+/g, ' ').trim()
}

const freshnessRow = z.object({
  source: z.string(),
  loaded_ms: z.coerce.number(),
  warn_after_seconds: z.coerce.number().nullable(),
  error_after_seconds: z.coerce.number().nullable(),
})

/**
 * The freshness, at `now` (milliseconds since the epoch), of the sources that have a
 * rule in the warehouse at `path`. Empty if the warehouse is missing, unreadable or of
 * an earlier version.
 */
export async function readSourceFreshness(path: string, now: number) {
  const read = publishedRows(path, 'meta/published_freshness', freshnessRow)
  const rows = await read.catch(() => []) // none, or one of an earlier version
  return rows.map((row) => {
    const ageMs = now - row.loaded_ms
    const limits = {
      warnAfterSeconds: row.warn_after_seconds,
      errorAfterSeconds: row.error_after_seconds,
    }
    return {
      /** `source.table` */
      source: row.source,
      /** When its newest row was fetched, ISO 8601, UTC. */
      loadedAt: new Date(row.loaded_ms).toISOString(),
      ageSeconds: Math.floor(ageMs / 1000),
      ...limits,
      status: freshnessOf(ageMs, limits),
    }
  })
}
