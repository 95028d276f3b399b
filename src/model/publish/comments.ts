import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import type { ModelNode } from '../project/types.ts'

/** What the comments of a table or view and of its columns say, as one text. */
type Description = string

const catalogRows = z.array(
  z.object({
    schema: z.string(),
    relation: z.string(),
    relation_comment: z.string().nullable(),
    name: z.string(),
    comment: z.string().nullable(),
  }),
)

/** The comments in the file in use, by schema and name of the table or view. */
export async function commentsIn(db: Database): Promise<ReadonlyMap<string, Description>> {
  const relations = new Map<string, { comment: string | null; columns: Column[] }>()
  for (const row of catalogRows.parse(await db.rows(statement('meta/catalog')))) {
    const name = `${row.schema}.${row.relation}`
    const relation = relations.get(name) ?? { comment: row.relation_comment, columns: [] }
    relations.set(name, relation)
    relation.columns.push([row.name, row.comment])
  }
  return new Map(
    [...relations].map(([name, { comment, columns }]) => [name, textOf(comment, columns)]),
  )
}

/** The comments that the model's yml asks for. */
export function commentsOf({ description, columns }: ModelNode): Description {
  return textOf(
    description,
    columns.map((column): Column => [column.name, column.description]),
  )
}

type Column = readonly [name: string, comment: string | null]

function textOf(comment: string | null, columns: readonly Column[]): Description {
  const byName = columns.map(([name, own]) => JSON.stringify([name, own ?? ''])).sort()
  return JSON.stringify([comment ?? '', ...byName])
}

/** The statements that make the model's descriptions the comments of its table or view. */
export function commentsSql({ materialized, relation, description, columns }: ModelNode): string {
  const kind = materialized === 'view' ? 'view' : 'table'
  return [
    `comment on ${kind} ${relation} is ${literal(description)}`,
    ...columns.map(
      (column) =>
        `comment on column ${relation}.${identifier(column.name)} is ${literal(column.description)}`,
    ),
  ].join(';\n')
}
