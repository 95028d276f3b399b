import type { Database } from '../../lib/duckdb.ts'
import { digest, type MadeBy } from '../build/fingerprint.ts'
import { relationsIn } from '../engines/relations.ts'
import { kindOf, type ModelNode } from '../project/types.ts'

/** Digests of what a finished file holds. */
export interface Contents {
  /** Of what the models' tables hold: the same, the same rows. */
  readonly content: string
  /** Of the models' comments and of schema `meta`, but for which run wrote it and when. */
  readonly meta: string
}

/** What the file in use contains, to be compared with what is published. */
export async function contentsOf(
  db: Database,
  {
    all,
    madeBy,
  }: { readonly all: readonly ModelNode[]; readonly madeBy: ReadonlyMap<string, MadeBy> },
): Promise<Contents> {
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
