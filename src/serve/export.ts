import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError, UsageError } from '../core/errors.ts'
import type { RunEvent } from '../core/events.ts'
import type { Database } from '../store/duckdb.ts'
import { pathSegment, sha256OfFile, syncFile, writeAtomic } from '../store/files.ts'
import { MANIFEST, replaceFolder } from './folder-swap.ts'
import {
  tableWriters,
  type Column,
  type ExportTarget,
  type MartTable,
  type TableWriter,
} from './table-writers.ts'
import { openWarehouse, sqlMessage } from './warehouse.ts'

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

export interface ExportedTable {
  readonly name: string
  /** Beside the manifest. */
  readonly file: string
  readonly rows: number
  /** In order, with DuckDB's name of each type in the warehouse. */
  readonly columns: readonly Column[]
  readonly bytes: number
  /** Hex. */
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
    const tables = wantedTables(await tablesOf(database, request.schema), request)
    const path = join(request.folder, request.target)
    const manifest = await replaceFolder(path, (aside) => fill(database, request, tables, aside))
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
  aside: string,
): Promise<ExportManifest> {
  const writer = tableWriters[request.target]
  const written: ExportedTable[] = []
  for (const table of tables) written.push(await writeTable(database, writer, table, aside))
  const manifest: ExportManifest = {
    created_at: new Date(request.now()).toISOString(),
    run_id: request.runId,
    warehouse_run_id: await warehouseRun(database),
    target: request.target,
    tables: written,
  }
  await writeAtomic(join(aside, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

async function writeTable(
  database: Database,
  writer: TableWriter,
  table: MartTable,
  folder: string,
): Promise<ExportedTable> {
  const file = `${pathSegment(table.name)}.${writer.extension}`
  const path = join(folder, file)
  const rows = await writeRows(database, writer, table, path)
  await syncFile(path)
  return {
    name: table.name,
    file,
    rows,
    columns: table.columns,
    bytes: (await stat(path)).size,
    sha256: await sha256OfFile(path),
  }
}

async function writeRows(
  database: Database,
  writer: TableWriter,
  table: MartTable,
  path: string,
): Promise<number> {
  try {
    return await writer.write(database, table, path)
  } catch (error) {
    throw new AppError(`${table.name} cannot be written to ${path}: ${sqlMessage(error)}`, {
      hint: 'The last export stays in place. Mend the cause, then export again.',
      cause: error,
    })
  }
}

const listedTable = z.object({
  schema: z.string(),
  name: z.string(),
  column_names: z.array(z.string()),
  column_types: z.array(z.string()),
})

async function tablesOf(database: Database, schema: string): Promise<MartTable[]> {
  const listed = z.array(listedTable).parse(await database.rows('show all tables'))
  return listed
    .filter((table) => table.schema === schema)
    .map(({ name, column_names: names, column_types: types }) => ({
      schema,
      name,
      columns: names.map((column, at) => ({ name: column, type: types[at] ?? 'VARCHAR' })),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
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
  const runs = (await tablesOf(database, 'meta')).find((table) => table.name === 'runs')
  const columns = runs?.columns.map((column) => column.name) ?? []
  if (!columns.includes('run_id') || !columns.includes('started_at')) return null
  const [row] = await database.rows('select max_by(run_id, started_at) as run_id from meta.runs')
  return newestRun.parse(row).run_id
}
