import { Database } from '../../lib/duckdb.ts'
import { removeFile } from '../../lib/files.ts'
import { publishFile, type PublishedRecord } from '../../lake/published.ts'
import type { BuildPlan, RunningBuild } from '../shared/context.ts'
import { digest } from '../shared/fingerprint.ts'
import type { Relations } from '../shared/relations.ts'
import { kindOf } from '../project/types.ts'

/**
 * Replaces the published file with the one at `temporary`. Keeps it if its content and its `meta`
 * are already the same. `isInNewFile`: the build began with an empty file, not with a copy of the
 * published one. `published`: the record of the published file; null if there is none.
 */
export async function publish(
  temporary: string,
  contents: Contents,
  build: RunningBuild,
  {
    isInNewFile,
    published,
  }: Pick<BuildPlan, 'isInNewFile'> & { readonly published: PublishedRecord | null },
): Promise<void> {
  const { target, runId, asOf, keep, warn, now, emit, signal, fullRefresh } = build
  const isSame = published?.content === contents.content && published.meta === contents.meta
  try {
    if (!isInNewFile && !fullRefresh && isSame && (await canBeOpened(target))) {
      await removeDatabase(temporary)
      emit({ type: 'warehouse.unchanged', path: target })
      return
    }
    await openOnce(temporary)
    const bytes = await publishFile(temporary, {
      target,
      runId,
      builtAt: new Date(now()).toISOString(),
      asOf: asOf === null ? null : new Date(asOf).toISOString(),
      ...contents,
      present: published,
      keep,
      warn,
    })
    emit({ type: 'warehouse.published', path: target, bytes })
  } catch (error) {
    await removeDatabase(temporary)
    signal?.throwIfAborted()
    throw error
  }
}

/** False while another program has the file open for writing. */
function canBeOpened(path: string): Promise<boolean> {
  return openOnce(path).then(
    () => true,
    () => false,
  )
}

/** Opens the file as readers will: a file that cannot be opened is not published. */
async function openOnce(path: string): Promise<void> {
  await using db = await Database.open(path, { readOnly: true })
  await db.rows('select count(*) from meta.columns')
}

/** Removes a DuckDB file that is not published, and its log. */
export async function removeDatabase(path: string): Promise<void> {
  await removeFile(path)
  await removeFile(`${path}.wal`)
}

export interface Contents {
  /** Digest of the models' tables: equal digests mean equal rows. */
  readonly content: string
  /** Digest of the models' comments and of schema `meta`, except run ids and times. */
  readonly meta: string
}

/**
 * Digests of the database in use, which contains these `relations`, for comparison with the
 * published file.
 */
export async function contentsOf(
  db: Database,
  { compiled: { models: all }, inputDigests }: Pick<BuildPlan, 'compiled' | 'inputDigests'>,
  relations: Relations,
): Promise<Contents> {
  const models: string[] = []
  for (const node of all) {
    const { withAncestors = '', content = null } = inputDigests.get(node.name) ?? {}
    const rows = async () => (relations.has(node.relation) ? rowsOf(db, node.relation) : '')
    models.push(
      `${node.name} ${kindOf(node) === 'view' ? withAncestors : (content ?? (await rows()))}`,
    )
  }
  const meta = all.map(({ relation }) => relations.get(relation)?.description ?? '')
  for (const [name, ofTheRun] of META) {
    if (!relations.has(`meta.${name}`)) continue
    const columns = ofTheRun.length === 0 ? '*' : `* exclude (${ofTheRun.join(', ')})`
    meta.push(`${name} ${await rowsOf(db, `(select ${columns} from meta.${name})`)}`)
  }
  return { content: digest(models), meta: digest(meta) }
}

/** Tables of `meta` that describe the data, and their columns that describe only the run. */
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
    `select count(*) || ' ' || coalesce(sum(hash(stored)), 0) as digest from ${relation} as stored`,
  )
  return JSON.stringify(row?.['digest'])
}
