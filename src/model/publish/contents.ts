import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import { digest } from '../build/fingerprint.ts'
import type { BuildPlan } from '../build/plan.ts'
import { kindOf, type ModelNode } from '../project/types.ts'

/** A table or view in a file. */
export interface Relation {
  readonly kind: 'table' | 'view'
  /** Its name as SQL. */
  readonly sql: string
  /** What the comments of it and of its columns say, as one text. */
  readonly description: string
}

const catalogRows = z.array(
  z.object({
    schema: z.string(),
    relation: z.string(),
    kind: z.enum(['BASE TABLE', 'VIEW']),
    relation_comment: z.string().nullable(),
    name: z.string(),
    comment: z.string().nullable(),
  }),
)

type CatalogRow = z.output<typeof catalogRows>[number]

/** The tables and views of the file in use, by `schema.name`. */
export async function relationsIn(db: Database): Promise<ReadonlyMap<string, Relation>> {
  const relations = new Map<string, { row: CatalogRow; columns: CatalogRow[] }>()
  for (const row of catalogRows.parse(await db.rows(statement('meta/catalog')))) {
    const name = `${row.schema}.${row.relation}`
    const found = relations.get(name)
    if (found === undefined) relations.set(name, { row, columns: [row] })
    else found.columns.push(row)
  }
  return new Map(
    [...relations].map(([name, { row, columns }]) => {
      const kind = row.kind === 'VIEW' ? 'view' : 'table'
      const sql = `${identifier(row.schema)}.${identifier(row.relation)}`
      return [name, { kind, sql, description: asText(row.relation_comment, columns) }]
    }),
  )
}

/** What the comments have to say by the model's yml. */
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

/** The statements that make the model's descriptions the comments of its table or view. */
export function commentsSql(node: ModelNode): string {
  const { relation, description, columns } = node
  return [
    `comment on ${kindOf(node)} ${relation} is ${literal(description)}`,
    ...columns.map(
      (column) =>
        `comment on column ${relation}.${identifier(column.name)} is ${literal(column.description)}`,
    ),
  ].join(';\n')
}

/** Digests of what a finished file holds. */
export interface Contents {
  /** Of what the models' tables hold: the same, the same rows. */
  readonly content: string
  /** Of the models' comments and of schema `meta`, but for which run wrote it and when. */
  readonly meta: string
}

/** What the file in use contains, to be compared with what is published. */
export async function contentsOf(db: Database, { all, madeBy }: BuildPlan): Promise<Contents> {
  const relations = await relationsIn(db)
  const models: string[] = []
  for (const node of all) {
    const { whole = '', content = null } = madeBy.get(node.name) ?? {}
    const rows = async () => (relations.has(node.relation) ? rowsOf(db, node.relation) : '')
    models.push(`${node.name} ${kindOf(node) === 'view' ? whole : (content ?? (await rows()))}`)
  }
  const meta = all.map(({ relation }) => relations.get(relation)?.description ?? '')
  for (const [name, ofTheRun] of META) {
    if (!relations.has(`meta.${name}`)) continue
    const columns = ofTheRun.length === 0 ? '*' : `* exclude (${ofTheRun.join(', ')})`
    meta.push(`${name} ${await rowsOf(db, `(select ${columns} from meta.${name})`)}`)
  }
  return { content: digest(models), meta: digest(meta) }
}

/** Tables of `meta` that say something of the data, and what in them is of the run alone. */
const META: readonly (readonly [table: string, ofTheRun: readonly string[]])[] = [
  ['intervals', []],
  ['schema_drift', []],
  ['columns', []],
  ['models', ['run_id']],
  ['check_results', ['run_id', 'checked_at']],
  ['source_freshness', ['checked_at']],
]

/** Digest of the rows, whatever their order. */
async function rowsOf(db: Database, relation: string): Promise<string> {
  const [row] = await db.rows(
    `select count(*) || ' ' || coalesce(sum(hash(held)), 0) as digest from ${relation} as held`,
  )
  return JSON.stringify(row?.['digest'])
}
