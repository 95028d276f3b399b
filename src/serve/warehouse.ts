import { stat } from 'node:fs/promises'
import { messageOf, UsageError } from '../core/errors.ts'
import { Database } from '../store/duckdb.ts'
import { isMissing } from '../store/files.ts'

/**
 * Opens the published warehouse for reading. A run may publish meanwhile: it
 * renames a new file into place, and this reader keeps the one it has opened.
 *
 * @throws UsageError when there is no file, or when it is not a database that can be read.
 */
export async function openWarehouse(path: string): Promise<Database> {
  await requireFile(path)
  try {
    return await Database.open(path, { readOnly: true })
  } catch (error) {
    throw new UsageError(`the warehouse ${path} cannot be read: ${sqlMessage(error)}`, {
      hint: 'Close programs that hold it open for writing, or make it anew: `agent-warehouse build`.',
      cause: error,
    })
  }
}

/**
 * The moment whose knowledge the warehouse at `path` holds, ISO 8601, UTC. Null when
 * it holds all that had landed, and where there is no warehouse that can be read.
 */
export async function publishedAsOf(path: string): Promise<string | null> {
  let database: Database
  try {
    database = await openWarehouse(path)
  } catch {
    return null
  }
  try {
    const [row] = await database.rows('select epoch_ms(as_of) as ms from meta.build')
    const ms = row?.['ms'] ?? null
    return ms === null ? null : new Date(Number(ms)).toISOString()
  } catch {
    return null // of an earlier version
  } finally {
    database.close()
  }
}

/**
 * For work that is about the present.
 * @throws UsageError, beginning with `what`, when the warehouse holds what was known at an earlier time.
 */
export async function refusePast(path: string, what: string): Promise<void> {
  const asOf = await publishedAsOf(path)
  if (asOf === null) return
  throw new UsageError(`${what}: the published warehouse holds what was known at ${asOf}`, {
    hint: 'Bring the present back first: agent-warehouse build.',
  })
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
