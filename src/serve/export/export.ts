import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, UsageError } from '../../lib/errors.ts'
import type { RunEvent } from '../../lib/events.ts'
import type { Database } from '../../lib/duckdb.ts'
import { pathSegment, syncedSums, writeAtomic } from '../../lib/files.ts'
import { buildOf, openWarehouse, sqlMessage } from '../warehouse.ts'
import { writeDatabase, writeFile, type ExportTarget } from './files.ts'
import { MANIFEST, replaceFolder } from './folder-swap.ts'
import { readTables, type CatalogueTable } from '../tables.ts'

interface ExportRequest {
  readonly warehouse: string
  readonly target: ExportTarget
  /** The exports folder; the files go into its subfolder named after the target. */
  readonly folder: string
  /** The run that makes the export. */
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** When it aborts, the export ends, and rejects with the reason; the earlier one stays. */
  readonly signal: AbortSignal
}

/** The content of `manifest.json`, which is written last. */
export type ExportManifest = Awaited<ReturnType<typeof exportTables>>

/**
 * Writes the marts to `<folder>/<target>/<table>.<target>` with a manifest next to
 * them. The folder is replaced as a whole, so nothing of an earlier export stays; other files in
 * it do. Two exports to one folder must not overlap.
 *
 * @throws UsageError without a published warehouse, for one without marts, and for a target
 * folder that no export made.
 */
export async function exportTables(request: ExportRequest) {
  const { target, runId, now, emit } = request
  await using database = await openWarehouse(request.warehouse, request.signal)
  const all = await readTables(database)
  const meta = target === 'duckdb' ? all.filter(({ schema }) => schema === 'meta') : []
  const wanted = [...martsAmong(all, request.warehouse), ...meta]
  const path = join(request.folder, target)
  const manifest = await replaceFolder(path, async (temporary) => {
    const tables = await writeTables(database, request, wanted, temporary)
    const written = {
      created_at: new Date(now()).toISOString(),
      run_id: runId,
      /** The run that built the warehouse; null if the warehouse does not say. */
      warehouse_run_id: (await buildOf(database))?.runId ?? null,
      target,
      tables,
    }
    await writeAtomic(join(temporary, MANIFEST), `${JSON.stringify(written, null, 2)}\n`)
    return written
  })
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  emit({ type: 'export.finished', target, path, tables: manifest.tables.length, rows })
  return manifest
}

/** `file`: next to the manifest; with the target `duckdb`, one file holds all tables. */
async function writeTables(
  database: Database,
  { target, warehouse, signal }: ExportRequest,
  tables: readonly CatalogueTable[],
  folder: string,
) {
  if (target === 'duckdb') {
    const file = 'warehouse.duckdb'
    const path = join(folder, file)
    const write = (): Promise<number[]> => writeDatabase(warehouse, tables, path, signal)
    const written = await writing('the marts', path, write)
    return tables.map((table, at) => ({ ...table, file, ...written, rows: written.rows[at] ?? 0 }))
  }
  const exported = []
  for (const table of tables) {
    const file = `${pathSegment(table.name)}.${target}`
    const path = join(folder, file)
    const write = (): Promise<number> => writeFile(database, target, table, path)
    exported.push({ ...table, file, ...(await writing(table.name, path, write)) })
  }
  return exported
}

async function writing<T>(what: string, path: string, write: () => Promise<T>) {
  try {
    const rows = await write()
    const { sha256 } = await syncedSums(path)
    return { rows, bytes: (await stat(path)).size, sha256 }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError(`${what} cannot be written to ${path}: ${sqlMessage(error)}`, {
      hint: 'The previous export stays in place. Fix the cause, then export again.',
      cause: error,
    })
  }
}

function martsAmong(all: readonly CatalogueTable[], warehouse: string): readonly CatalogueTable[] {
  const marts = all.filter(({ schema }) => schema === 'main')
  if (marts.length > 0) return marts
  throw new UsageError(`${warehouse} has no tables in schema 'main'`, {
    hint: 'Build the models first: `agent-warehouse build`.',
  })
}
