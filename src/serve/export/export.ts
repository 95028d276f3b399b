import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError, UsageError } from '../../lib/errors.ts'
import type { RunEvent } from '../../lib/events.ts'
import type { Database } from '../../lib/duckdb.ts'
import { writeDatabase } from './duckdb.ts'
import { readTables } from './tables.ts'
import { pathSegment, sha256OfFile, syncFile, writeAtomic } from '../../lib/files.ts'
import { MANIFEST, replaceFolder } from './folder-swap.ts'
import { tableWriters, type ExportTarget, type MartTable, type TableWriter } from './files.ts'
import { openWarehouse, sqlMessage } from '../warehouse.ts'

export interface ExportRequest {
  /** The published warehouse's file. */
  readonly warehouse: string
  readonly target: ExportTarget
  /** The exports folder; the files go into its subfolder named after the target. */
  readonly folder: string
  /** The schema whose tables and views are exported: `main` holds the marts. */
  readonly schema: string
  /** The run that makes the export. */
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** Names of the tables wanted; every one of the schema without it. */
  readonly tables?: readonly string[]
}

/** What `manifest.json` says, written after everything that it names. */
export interface ExportManifest {
  /** ISO 8601, UTC. */
  readonly created_at: string
  readonly run_id: string
  /** The newest run recorded in the warehouse; null when it records none. */
  readonly warehouse_run_id: string | null
  readonly target: ExportTarget
  readonly tables: readonly ExportedTable[]
}

export interface ExportedTable extends MartTable {
  /** Beside the manifest; of the target `duckdb` one file holds them all. */
  readonly file: string
  readonly rows: number
  /** Of the file. */
  readonly bytes: number
  /** Of the file, hex. */
  readonly sha256: string
}

/**
 * Writes the marts to `<folder>/<target>/<table>.<extension>` with a manifest
 * beside them. The folder is replaced whole: it holds what this export wrote,
 * and nothing of an earlier one. Two exports to one folder must not overlap.
 *
 * @throws UsageError without a published warehouse, for an unknown table, for a
 * schema with no tables, and for a target folder that no export made.
 */
export async function exportTables(request: ExportRequest): Promise<ExportManifest> {
  const database = await openWarehouse(request.warehouse)
  try {
    const all = await readTables(database)
    const marts = wantedTables(
      all.filter(({ schema }) => schema === request.schema),
      request,
    )
    const meta = request.target === 'duckdb' ? all.filter(({ schema }) => schema === 'meta') : []
    const tables = [...marts, ...meta]
    const path = join(request.folder, request.target)
    const manifest = await replaceFolder(path, (temporary) =>
      fill(database, request, tables, temporary),
    )
    request.emit({
      type: 'export.finished',
      target: request.target,
      path,
      tables: manifest.tables.length,
      rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
    })
    return manifest
  } finally {
    database.close()
  }
}

async function fill(
  database: Database,
  request: ExportRequest,
  tables: readonly MartTable[],
  temporary: string,
): Promise<ExportManifest> {
  const written =
    request.target === 'duckdb'
      ? await writeAll(request, tables, temporary)
      : await writeEach(database, tableWriters[request.target], tables, temporary)
  const manifest: ExportManifest = {
    created_at: new Date(request.now()).toISOString(),
    run_id: request.runId,
    warehouse_run_id: await warehouseRun(database),
    target: request.target,
    tables: written,
  }
  await writeAtomic(join(temporary, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

/** One file of all tables. */
async function writeAll(
  { warehouse }: ExportRequest,
  tables: readonly MartTable[],
  folder: string,
): Promise<ExportedTable[]> {
  const file = 'warehouse.duckdb'
  const path = join(folder, file)
  const rows = await written('the marts', path, () => writeDatabase(warehouse, tables, path))
  const { bytes, sha256 } = await settled(path)
  return tables.map((table, at) => ({ ...table, file, rows: rows[at] ?? 0, bytes, sha256 }))
}

async function writeEach(
  database: Database,
  writer: TableWriter,
  tables: readonly MartTable[],
  folder: string,
): Promise<ExportedTable[]> {
  const written: ExportedTable[] = []
  for (const table of tables) written.push(await writeTable(database, writer, table, folder))
  return written
}

async function writeTable(
  database: Database,
  writer: TableWriter,
  table: MartTable,
  folder: string,
): Promise<ExportedTable> {
  const file = `${pathSegment(table.name)}.${writer.extension}`
  const path = join(folder, file)
  const rows = await written(table.name, path, () => writer.write(database, table, path))
  return { ...table, file, rows, ...(await settled(path)) }
}

async function settled(path: string): Promise<Pick<ExportedTable, 'bytes' | 'sha256'>> {
  await syncFile(path)
  return { bytes: (await stat(path)).size, sha256: await sha256OfFile(path) }
}

async function written<T>(what: string, path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw new AppError(`${what} cannot be written to ${path}: ${sqlMessage(error)}`, {
      hint: 'The last export stays in place. Fix the cause, then export again.',
      cause: error,
    })
  }
}

function wantedTables(tables: readonly MartTable[], request: ExportRequest): readonly MartTable[] {
  const names = tables.map((table) => table.name)
  if (names.length === 0) {
    throw new UsageError(`${request.warehouse} has no tables in schema '${request.schema}'`, {
      hint: 'Build the models first: `agent-warehouse build`.',
    })
  }
  const wanted = request.tables ?? names
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown === undefined) return tables.filter((table) => wanted.includes(table.name))
  throw new UsageError(`there is no table '${unknown}' in schema '${request.schema}'`, {
    hint: `There are: ${names.join(', ')}.`,
  })
}

const newestRun = z.object({ run_id: z.string().nullable() })

async function warehouseRun(database: Database): Promise<string | null> {
  const tables = await readTables(database)
  const runs = tables.find(({ schema, name }) => schema === 'meta' && name === 'runs')
  const columns = runs?.columns.map((column) => column.name) ?? []
  if (!columns.includes('run_id') || !columns.includes('started_at')) return null
  const [row] = await database.rows('select max_by(run_id, started_at) as run_id from meta.runs')
  return newestRun.parse(row).run_id
}
