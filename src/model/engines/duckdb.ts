import { z } from 'zod'
import { Database, literal, identifier } from '../../lib/duckdb.ts'
import { grouped } from '../../lib/grouped.ts'
import { processLimits } from '../../lib/machine.ts'
import type { BuildContext, Building } from '../build/context.ts'
import { statement } from '../../lib/package.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import { sparkVersion, type SparkSettings } from './spark-submit.ts'

/**
 * The oldest storage format that supports the models: DuckDB 1.0.0 and later open
 * the published file.
 */
const STORAGE_VERSION = 'v1.0.0'

/**
 * The versions of Spark (if it builds the models), of DuckDB and of the storage format. Another
 * version may compute or write different tables.
 */
export async function engineOf(db: Database, spark?: SparkSettings): Promise<string> {
  const { rows } = await db.table('select version()')
  const own = `DuckDB ${z.string().parse(rows[0]?.[0])}, storage ${STORAGE_VERSION}`
  return spark === undefined ? own : `Spark ${await sparkVersion(spark)}, ${own}`
}

/**
 * Runs `work` in the file at `path`, which is complete on disk afterwards. The file has no log
 * while it is built, so it cannot be used after a crash.
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

/** Repeats the interrupt, because DuckDB ignores one that comes just before a statement begins. */
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

/** A table or view in a file. */
export interface Relation {
  readonly kind: 'table' | 'view'
  /** Its name as SQL. */
  readonly sql: string
  /** Its comments and those of its columns, as one text to compare. */
  readonly description: string
  readonly comment: string | null
  readonly columns: z.output<typeof catalogRows>
}

const catalogRows = z.array(
  z.object({
    schema: z.string(),
    relation: z.string(),
    kind: z.enum(['BASE TABLE', 'VIEW']),
    relation_comment: z.string().nullable(),
    name: z.string(),
    type: z.string(),
    index: z.number(),
    comment: z.string().nullable(),
  }),
)

/** By `schema.name`. */
export type Relations = ReadonlyMap<string, Relation>

/** The tables and views of the file in use. */
export async function relationsIn(db: Database): Promise<Relations> {
  const rows = catalogRows.parse(await db.rows(statement('meta/catalog')))
  const relations = new Map<string, Relation>()
  for (const [name, columns] of grouped(rows, (row) => `${row.schema}.${row.relation}`)) {
    const [first] = columns
    if (first === undefined) continue
    const { schema, relation, kind, relation_comment: comment } = first
    relations.set(name, {
      kind: kind === 'VIEW' ? 'view' : 'table',
      sql: `${identifier(schema)}.${identifier(relation)}`,
      description: asText(comment, columns),
      comment,
      columns,
    })
  }
  return relations
}

/** The comments by the model's yml, in the form of `Relation.description`. */
export function descriptionOf({ description, columns }: ModelNode): string {
  return asText(
    description,
    columns.map((column) => ({ name: column.name, comment: column.description })),
  )
}

function asText(
  comment: string | null,
  columns: readonly { readonly name: string; readonly comment: string | null }[],
): string {
  const byName = columns.map((column) => JSON.stringify([column.name, column.comment ?? ''])).sort()
  return JSON.stringify([comment ?? '', ...byName])
}

/** A table or view with its descriptions. */
interface Commented extends Pick<ModelNode, 'materialized' | 'relation' | 'description'> {
  readonly columns: readonly { readonly name: string; readonly description: string }[]
}

/** The statements that write the model's descriptions as comments of its table or view. */
export function commentsSql(node: Commented): string {
  const { relation, description, columns } = node
  return [
    `comment on ${kindOf(node)} ${relation} is ${literal(description)}`,
    ...columns.map(
      (column) =>
        `comment on column ${relation}.${identifier(column.name)} is ${literal(column.description)}`,
    ),
  ].join(';\n')
}

/** The rows of the replaced intervals, as a relation in the database that replaced them. */
export function changedRows(node: ModelNode): string {
  const columns = node.unique_key.map(identifier).join(', ')
  const changed = `select ${columns} from ${changedIntervals(node)}`
  return `(from ${node.relation} where (${columns}) in (${changed}))`
}

/** The intervals that were replaced: a temporary table. */
export function changedIntervals({ name }: ModelNode): string {
  return identifier(`changed_${name}`)
}
