import { z } from 'zod'
import { Database, literal } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import type { BuildContext, Building } from '../build/context.ts'

/**
 * The oldest storage format that DuckDB 1.5 writes with all that the models
 * need: readers from DuckDB 1.0.0 on open the published file.
 */
const STORAGE_VERSION = 'v1.0.0'

/** DuckDB's version and the storage format: another one may compute or write otherwise. */
export async function engineOf(db: Database): Promise<string> {
  const { rows } = await db.table('select version()')
  return `DuckDB ${z.string().parse(rows[0]?.[0])}, storage ${STORAGE_VERSION}`
}

/**
 * Works in the file at `path`, which is whole on disk afterwards. The file has no log while it is
 * built: after a crash it is worth nothing.
 */
export async function inFile<T>(
  path: string,
  building: Building,
  work: (context: BuildContext) => Promise<T>,
): Promise<T> {
  const { tempDirectory, signal } = building
  await using db = await Database.open(':memory:', { ...processLimits().build, tempDirectory })
  await using second = await db.another()
  const release = interruptOnAbort([db, second], signal)
  try {
    await db.run(
      `attach ${literal(path)} as warehouse (
        storage_version ${literal(STORAGE_VERSION)}, recovery_mode 'no_wal_writes'
      );
      use warehouse`,
    )
    await second.run('use warehouse')
    const result = await work({ ...building, db, second })
    await second.run('use memory')
    await db.run('checkpoint warehouse; use memory; detach warehouse')
    return result
  } finally {
    release()
  }
}

/** DuckDB forgets an interrupt that comes just before a statement begins, so it is repeated. */
function interruptOnAbort(
  databases: readonly Database[],
  signal: AbortSignal | undefined,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    timer = setInterval(() => {
      for (const db of databases) db.interrupt()
    }, 50)
  }
  signal?.addEventListener('abort', stop)
  return () => {
    signal?.removeEventListener('abort', stop)
    clearInterval(timer)
  }
}
