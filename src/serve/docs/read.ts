import { z } from 'zod'
import { grouped } from '../../lib/grouped.ts'
import type { ModelNode } from '../../model/project/types.ts'
import { readTables, relationOf } from '../tables.ts'
import { buildOf, openWarehouse, rowsOf } from '../warehouse.ts'

/** A model, seed or snapshot of the project, as the documentation shows it. */
export interface DocumentedModel extends Pick<
  ModelNode,
  'name' | 'schema' | 'file' | 'description' | 'materialized' | 'sql' | 'dependsOn' | 'sources'
> {
  readonly columns: readonly Pick<ModelNode['columns'][number], 'name' | 'description'>[]
}

const tableRow = z.object({ schema: z.string(), name: z.string() })

const checkRow = z.object({
  model: z.string(),
  check_name: z.string(),
  column_name: z.string().nullable(),
  status: z.string(),
  failures: z.coerce.number().nullable(),
})

export type PublishedCheck = Readonly<z.output<typeof checkRow>>

/** The state of the models in the published warehouse. */
export type Published = Readonly<Awaited<ReturnType<typeof readPublished>>>

/**
 * Reading ends when the signal aborts.
 *
 * @throws UsageError when there is no warehouse, or when it cannot be read.
 */
export async function readPublished(warehouse: string, signal: AbortSignal) {
  await using database = await openWarehouse(warehouse, signal)
  const tables = await readTables(database)
  const checks = await rowsOf(database, 'docs/checks', checkRow)
  const rows = new Map<string, number>()
  for (const table of await rowsOf(database, 'docs/tables', tableRow)) {
    const [counted] = await database.rows(`select count(*) as rows from ${relationOf(table)}`)
    rows.set(`${table.schema}.${table.name}`, Number(counted?.['rows'] ?? 0))
  }
  return {
    build: await buildOf(database),
    /** By `schema.name`. */
    tables: new Map(tables.map((table) => [`${table.schema}.${table.name}`, table])),
    /** Rows of tables, by `schema.name`; the rows of a view are not counted. */
    rows,
    /** By the name of the model. */
    checks: grouped(checks, ({ model }) => model),
  }
}
