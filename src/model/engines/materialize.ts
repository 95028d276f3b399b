import type { AppError } from '../../lib/errors.ts'
import { ChecksFailedError, messageOf } from '../../lib/errors.ts'
import { identifier, type Database } from '../../lib/duckdb.ts'
import { counted, suggestion } from '../../lib/text.ts'
import {
  readColumns,
  type BuildContext,
  type NodePlan,
  type TableColumns,
} from '../shared/context.ts'
import type { Counted } from '../checks/run.ts'
import { labelErrors, ProjectError } from '../project/errors.ts'
import { keyColumns } from '../project/properties.ts'
import { loadSeed } from '../project/seeds.ts'
import { kindOf, type Statements, type ModelNode } from '../project/types.ts'
import { changedIntervals, changedRows } from '../shared/relations.ts'
import { takeSnapshot } from './snapshots.ts'

export interface BuiltModel {
  readonly name: string
  /** Null for a view. */
  readonly rows: number | null
  /** The number of replaced intervals, if the model was updated. */
  readonly intervals?: number
  readonly durationMs: number
}

export interface BuiltModels {
  readonly models: readonly BuiltModel[]
  readonly failures: readonly AppError[]
  /** Models that could not be built, and those that read them. */
  readonly missing: ReadonlySet<string>
  /** What another engine counted, or its error, by check. */
  readonly counted?: ReadonlyMap<string, Counted>
}

/**
 * Creates, updates or reuses a model's table or view as planned, and verifies its columns. `took`:
 * the time of another engine that computed its rows, in milliseconds.
 *
 * @throws StatementError if DuckDB refuses the model, ProjectError if its columns differ from
 * its yml, ChecksFailedError if a double is not finite.
 */
export async function materialize(
  context: BuildContext,
  { node, action }: NodePlan,
  took?: number,
): Promise<BuiltModel> {
  const { db, now, emit, report } = context
  const { name } = node
  const startedAt = now()
  try {
    const intervals = await createOrUpdate(context, node, action)
    if (action !== 'reuse') {
      const columns = await compareColumns(context, node)
      await refuseInfinite(db, node, columns, action === 'update')
    }
    const rows =
      kindOf(node) === 'table' ? await numberOf(db, `select count(*) from ${node.relation}`) : null
    const durationMs = took ?? (action === 'reuse' ? 0 : now() - startedAt)
    const built = { rows, ...(intervals === undefined ? {} : { intervals }), durationMs }
    emit({ type: 'model.built', model: name, ...built })
    report({ kind: 'model', name, status: 'success', startedAt: now() - durationMs, durationMs })
    return { name, ...built }
  } catch (error) {
    const durationMs = took ?? now() - startedAt
    const outcome = { kind: 'model', name, startedAt: now() - durationMs, durationMs } as const
    report({ ...outcome, status: 'error', message: messageOf(error) })
    throw error
  }
}

/** Returns the number of replaced intervals of an incremental model that is not created. */
async function createOrUpdate(
  { db, now }: BuildContext,
  node: ModelNode,
  action: NodePlan['action'],
): Promise<number | undefined> {
  const { increment, seed, snapshot } = node
  if (action === 'reuse') return increment === null ? undefined : 0
  return labelErrors(`${node.file}: model '${node.name}'`, async () => {
    if (action === 'update' && increment !== null) return update(db, node, increment)
    if (snapshot !== null) await takeSnapshot(db, node, snapshot, now())
    else {
      if (seed !== null) await loadSeed(db, seed)
      await create(db, node)
    }
    return undefined
  })
}

/**
 * Stores a table in the order of its key: two builds then make the same table, a filter on days
 * reads few blocks, and strings compress better. The model begins on the first line, so that lines
 * in DuckDB's messages are those of the file.
 */
async function create(db: Database, node: ModelNode): Promise<void> {
  const { preHooks, sql, relation } = node
  const kind = kindOf(node)
  const key = keyColumns(node).map(identifier).join(', ')
  const isOrdered = kind === 'table' && key !== ''
  for (const hook of preHooks) await db.run(hook)
  await db.run(
    `create or replace ${kind} ${relation} as ${isOrdered ? `select * from (${sql}\n) order by ${key}` : sql}`,
  )
}

/**
 * Updates the table of an incremental model in one transaction: its pre-hooks delete outdated
 * rows, then every interval that the select returns rows for is replaced completely. Returns the
 * number of these intervals. Row numbers distinguish old rows from new ones: a copy next to the
 * table would be written twice.
 */
async function update(
  db: Database,
  node: ModelNode,
  { preHooks, sql }: Statements,
): Promise<number> {
  const { relation, unique_key: key } = node
  const columns = key.map(identifier).join(', ')
  const changed = changedIntervals(node)
  await db.transaction(async () => {
    for (const hook of preHooks) await db.run(hook)
    const last = await numberOf(db, `select coalesce(max(rowid), -1) from ${relation}`)
    await db.run(`insert into ${relation} ${sql}`)
    await db.run(`create or replace temp table ${changed} as
        select distinct ${columns} from ${relation} where rowid > ${String(last)};
      delete from ${relation}
        where rowid <= ${String(last)} and (${columns}) in (select ${columns} from ${changed})`)
  })
  return numberOf(db, `select count(*) from ${changed}`)
}

/** Returns the columns and their types. @throws ProjectError if they differ from the yml. */
async function compareColumns(context: BuildContext, node: ModelNode): Promise<TableColumns> {
  const table = await readColumns(context, node.relation)
  for (const { name, place } of node.columns) {
    if (table.columns.includes(name)) continue
    throw new ProjectError(place, `model '${node.name}' has no column '${name}'`, {
      hint: suggestion(name, table.columns),
    })
  }
  const described = new Set(node.columns.map((column) => column.name))
  const undescribed = table.columns.find((name) => !described.has(name))
  if (undescribed === undefined) return table
  throw new ProjectError(node.place, `column '${undescribed}' of '${node.name}' is not described`, {
    hint: `Describe it, or remove it from ${node.file}.`,
  })
}

const DOUBLES = ['DOUBLE', 'FLOAT']

/**
 * Verifies that a table's doubles are finite: DuckDB divides by zero without an error, unlike
 * other engines. In an updated table, only rows of the replaced intervals are read.
 */
async function refuseInfinite(
  db: Database,
  node: ModelNode,
  { columns: names, types }: TableColumns,
  isUpdate: boolean,
): Promise<void> {
  const columns = names.filter((_, at) => DOUBLES.includes(types[at] ?? '')).map(identifier)
  if (node.materialized === 'view' || columns.length === 0) return
  const counts = columns.map((name) => `count(*) filter (not isfinite(${name})) as ${name}`)
  const from = isUpdate ? changedRows(node) : node.relation
  const [row = {}] = await db.rows(`select ${counts.join(', ')} from ${from}`)
  const [name, count] = Object.entries(row).find(([, rows]) => Number(rows) > 0) ?? []
  if (name === undefined) return
  const rows = counted(Number(count), 'row')
  const problem = `column '${name}' is infinite or not a number in ${rows}, for example after a division by zero`
  throw new ChecksFailedError(`${node.file}: model '${node.name}': ${problem}`, {
    hint: `To get NULL instead, divide by nullif(…, 0). The failing rows:\nselect * from (${node.sql}\n) where not isfinite(${identifier(name)});`,
  })
}

async function numberOf(db: Database, select: string): Promise<number> {
  const { rows } = await db.table(select)
  return Number(rows[0]?.[0])
}
