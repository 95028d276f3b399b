import { z } from 'zod'
import { messageOf, UsageError } from '../../lib/errors.ts'
import { Database, insertRows, listLiteral } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { digest, type InputDigests } from './fingerprint.ts'
import type { CheckResult, PlannedCheck } from './checks.ts'
import type { BuildOptions, BuildPlan } from './context.ts'
import { relationsIn, type Relations } from './relations.ts'
import { keyColumns } from '../project/properties.ts'
import { kindOf, type ModelNode } from '../project/types.ts'

/** Deletes the rows with these keys, then inserts. */
async function replaceRows(
  db: Database,
  relation: string,
  key: string,
  keys: readonly string[],
  rows: readonly object[],
): Promise<void> {
  await db.run(`delete from ${relation} where ${key} in (select unnest(${listLiteral(keys)}))`)
  await insertRows(db, relation, rows)
}

/**
 * Writes the results of the planned checks. In a partial build, the results of other checks stay.
 * A check that was refused or skipped loses its earlier result, which says nothing about the rows
 * in this file. `checkedAt` in milliseconds since the epoch.
 */
export async function writeCheckResults(
  db: Database,
  planned: readonly PlannedCheck[],
  results: readonly CheckResult[],
  { runId, checkedAt }: { readonly runId: string; readonly checkedAt: number },
): Promise<void> {
  const rows = results.map((result) => ({
    run_id: runId,
    check_name: result.check,
    model: result.model,
    column_name: result.column,
    severity: result.severity,
    status: result.status,
    failures: result.failures,
    query: result.sql,
    checked_at: new Date(checkedAt),
  }))
  const names = planned.map(({ check }) => check)
  await replaceRows(db, 'meta.check_results', 'check_name', names, rows)
}

/**
 * Writes the inputs of the planned models. In a partial build, the records of other models stay.
 * A `missing` model loses its record, so that a retry builds it from scratch, whatever it has left
 * in the file.
 */
export async function writeModels(
  db: Database,
  { nodes, inputDigests, unitTestDigests }: BuildPlan,
  missing: ReadonlySet<string>,
  { runId, engine }: { readonly runId: string; readonly engine: string },
): Promise<void> {
  const names = nodes.map(({ node }) => node.name)
  const built = nodes.filter(({ node }) => !missing.has(node.name))
  const rows = built.map(({ node: { schema, name, materialized } }) => ({
    table_schema: schema,
    model: name,
    materialized,
    run_id: runId,
    made_by: inputDigests.get(name)?.own,
    fingerprint: inputDigests.get(name)?.withAncestors,
    content: inputDigests.get(name)?.content ?? null,
    unit_tests: unitTestDigests.get(name) ?? null,
    engine,
  }))
  await replaceRows(db, 'meta.models', 'model', names, rows)
}

/** Writes the catalogue of columns. Call this last, when every table exists. */
export async function writeColumns(db: Database, models: readonly ModelNode[]): Promise<void> {
  const rows = models.flatMap((model) => {
    const key = keyColumns(model)
    return model.columns.map(({ name, additivity }) => ({
      table_schema: model.schema,
      table_name: model.name,
      column_name: name,
      additivity,
      key_position: key.includes(name) ? key.indexOf(name) + 1 : null,
    }))
  })
  await db.rows(statement('meta/columns'), { rows: JSON.stringify(rows) })
}

interface PublishedModel extends InputDigests {
  readonly engine: string
  /** Whether it is the engine of this build. */
  readonly isSameEngine: boolean
  /** Digest of its passed unit tests; null if it had none. */
  readonly unitTests: string | null
}

/** The content of the file that a build continues from, as recorded in its `meta`. */
export interface PublishedState {
  readonly models: ReadonlyMap<string, PublishedModel>
  /** Its tables and views. */
  readonly relations: Relations
  /** The results of the checks, by name. */
  readonly checks: ReadonlyMap<string, z.output<typeof checkRows>[number]>
  /** Why the build cannot continue from the file; null if it can, or if there is no file. */
  readonly problem: string | null
}

const modelRows = z.array(
  z.object({
    model: z.string(),
    made_by: z.string(),
    fingerprint: z.string(),
    content: z.string().nullable(),
    unit_tests: z.string().nullable(),
    engine: z.string(),
  }),
)
const checkRows = z.array(
  z.object({
    check_name: z.string(),
    model: z.string().nullable(),
    status: z.string(),
    failures: z.coerce.number(),
    query: z.string(),
  }),
)

/**
 * Reads the record in a published file. A file that cannot be read counts as empty. `engineOf`
 * returns the engine of this build.
 */
export async function readPublishedState(
  path: string,
  engineOf: (db: Database) => Promise<string>,
): Promise<PublishedState> {
  try {
    await using db = await Database.open(path, { readOnly: true })
    const engine = await engineOf(db)
    const models = modelRows.parse(await db.rows('from meta.models')).map((row) => {
      const { made_by: own, fingerprint: withAncestors, content, unit_tests: unitTests } = row
      const isSameEngine = row.engine === engine
      const model = { own, withAncestors, content, engine: row.engine, isSameEngine, unitTests }
      return [row.model, model] as const
    })
    const checks = checkRows.parse(await db.rows('from meta.check_results'))
    return {
      models: new Map(models),
      relations: await relationsIn(db),
      checks: new Map(checks.map((row) => [row.check_name, row])),
      problem: null,
    }
  } catch (error) {
    if (error instanceof UsageError) throw error // Spark is missing
    return emptyState(`it cannot be read: ${messageOf(error)}`)
  }
}

export function emptyState(problem: string | null): PublishedState {
  return { models: new Map(), relations: new Map(), checks: new Map(), problem }
}

/** One run, for `meta.runs`. Times are ISO 8601, UTC; counts are of resource days. */
export interface RunRow {
  readonly run_id: string
  readonly command: string
  readonly version: string
  readonly status: string
  readonly exit_code: number | null
  readonly started_at: string
  readonly finished_at: string | null
  readonly days_landed: number
  readonly days_empty: number
  readonly days_unchanged: number
  readonly days_failed: number
  readonly requests: number
}

/**
 * Writes the pipeline's own record: `meta.intervals`, from the base entity behind `intervals` (SQL),
 * `meta.runs` and `meta.build`. Times are milliseconds since the epoch.
 */
export async function writeRecord(
  db: Database,
  intervals: string,
  runs: readonly RunRow[],
  { runId, builtAt, asOf }: Pick<BuildOptions, 'runId' | 'asOf'> & { readonly builtAt: number },
): Promise<void> {
  await db.run(fill(statement('meta/record_tables'), { intervals }))
  await insertRows(db, 'meta.runs', runs)
  const known = asOf === null ? null : new Date(asOf)
  await insertRows(db, 'meta.build', [{ run_id: runId, built_at: new Date(builtAt), as_of: known }])
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
