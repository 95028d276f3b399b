import { z } from 'zod'
import { identifier, type Database } from '../../lib/duckdb.ts'
import { statement } from '../../lib/package.ts'
import { commentsIn } from './comments.ts'
import { digest } from '../project/fingerprint.ts'
import type { ModelNode } from '../project/types.ts'
import type { BuildPlan } from '../build/plan.ts'

/** Digests of what a finished file holds. */
export interface Contents {
  /** Of what the models' tables hold: the same, the same rows. */
  readonly content: string
  /** Of the models' comments and of schema `meta`, but for which run wrote it and when. */
  readonly meta: string
}

/** What the file in use contains, to be compared with what is published. */
export async function contentsOf(db: Database, { all, madeBy }: BuildPlan): Promise<Contents> {
  const tables = await tablesOf(db)
  const ofModel = async (node: ModelNode): Promise<string> => {
    const { whole = '', content = null } = madeBy.get(node.name) ?? {}
    if (node.materialized === 'view') return whole
    return content ?? (tables.has(node.relation) ? rowsOf(db, node.relation) : '')
  }
  const models = []
  for (const node of all) models.push(`${node.name} ${await ofModel(node)}`)
  const comments = await commentsIn(db)
  const meta = all.map(({ relation }) => comments.get(relation) ?? '')
  for (const [name, without] of META) {
    const relation = `meta.${name}`
    if (!tables.has(relation)) continue
    const columns = without.length === 0 ? '*' : `* exclude (${without.map(identifier).join(', ')})`
    meta.push(`${name} ${await rowsOf(db, `(select ${columns} from ${relation})`)}`)
  }
  return { content: digest(models), meta: digest(meta) }
}

/** Tables of `meta` that say something of the data, and what in them is of the run alone. */
const META: readonly (readonly [table: string, without: readonly string[]])[] = [
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

const relationRows = z.array(z.object({ schema: z.string(), name: z.string(), kind: z.string() }))

async function tablesOf(db: Database): Promise<Set<string>> {
  const rows = relationRows.parse(await db.rows(statement('meta/relations')))
  const tables = rows.filter(({ kind }) => kind === 'table')
  return new Set(tables.map(({ schema, name }) => `${schema}.${name}`))
}
