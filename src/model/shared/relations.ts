import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import { kindOf, type ModelNode } from '../project/types.ts'

const catalogRows = z.array(
  z.object({
    schema: z.string(),
    name: z.string(),
    kind: z.enum(['table', 'view']),
    comment: z.string().nullable(),
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        index: z.number(),
        comment: z.string().nullable(),
      }),
    ),
  }),
)

export interface Relation extends Omit<z.output<typeof catalogRows>[number], 'schema' | 'name'> {
  readonly sql: string
  /** Its comments and those of its columns, as one text to compare. */
  readonly description: string
}

/** By `schema.name`. */
export type Relations = ReadonlyMap<string, Relation>

/** Creates the schemas of tables and views. Two connections cannot create the same one at once. */
export async function createSchemas(
  db: Database,
  relations: readonly Pick<ModelNode, 'schema'>[],
): Promise<void> {
  for (const schema of new Set(relations.map((each) => each.schema))) {
    await db.run(`create schema if not exists ${identifier(schema)}`)
  }
}

/** Returns the tables and views of the database in use. */
export async function relationsIn(db: Database): Promise<Relations> {
  const rows = catalogRows.parse(await db.rows(statement('meta/catalog')))
  return new Map(
    rows.map(({ schema, name, ...relation }) => {
      const sql = `${identifier(schema)}.${identifier(name)}`
      const description = asText(relation.comment, relation.columns)
      return [`${schema}.${name}`, { ...relation, sql, description }]
    }),
  )
}

/** The comments by the model's yml, in the form of `Relation.description`. */
export function descriptionOf({ description, columns }: ModelNode): string {
  const commented = columns.map((column) => ({ name: column.name, comment: column.description }))
  return asText(description, commented)
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
