import { basename, dirname, relative } from 'node:path'
import { AppError, messageOf } from '../../lib/errors.ts'
import { Database, identifier, literal } from '../../lib/duckdb.ts'
import { commitFile, sha256OfFile, withTemporary } from '../../lib/files.ts'
import { statement, fill } from '../../lib/package.ts'
import {
  hasQuarantined,
  quarantineSnapshot,
  snapshotDamage,
  snapshotPath,
  snapshotVersions,
} from '../../lake/snapshot-versions.ts'
import type { RunningBuild } from '../shared/context.ts'
import type { ModelNode, SnapshotRule } from '../project/types.ts'
import { relationsIn } from '../shared/relations.ts'

/** Where versions are stored; those written up to `asOf` are read. */
type SnapshotPlace = Pick<RunningBuild, 'target' | 'asOf' | 'now' | 'warn'>

/**
 * Why a snapshot lacks its history: it never had a version, its last versions are damaged, or all
 * of them.
 */
export type Lack = 'missing' | 'damaged' | 'lost'

/**
 * The snapshots whose history must be read from the published file: those without
 * a version, and those whose last version is damaged, which is moved to quarantine.
 */
export async function findLacking(
  { target, warn }: SnapshotPlace,
  nodes: readonly ModelNode[],
): Promise<Map<ModelNode, Lack>> {
  const dataFolder = dirname(target)
  const lacking = new Map<ModelNode, Lack>()
  for (const node of nodes) {
    const versions = await snapshotVersions(dataFolder, node.name)
    for (let last = versions.pop(); last !== undefined; last = versions.pop()) {
      const damage = await snapshotDamage(last)
      if (damage === undefined) break
      const moved = relative(dataFolder, await quarantineSnapshot(dataFolder, last))
      warn(
        `snapshot ${node.name}: ${basename(last.path)}: ${damage}; moved to ${moved}; ` +
          `the history continues from the published file, or from the previous version`,
      )
      lacking.set(node, 'damaged')
    }
    if ((await snapshotVersions(dataFolder, node.name)).length > 0) continue
    lacking.set(node, (await hasQuarantined(dataFolder, node.name)) ? 'lost' : 'missing')
  }
  return lacking
}

/**
 * Writes a version of each snapshot that has a table in the file at `path`, a copy of the published
 * one. Writes none if that file was built with `--as-of`, because its history is an earlier one.
 *
 * @returns whether the file was built without `--as-of`.
 * @throws AppError if the file, which holds the only history, cannot be read.
 */
export async function adoptSnapshots(
  place: SnapshotPlace,
  path: string,
  nodes: readonly ModelNode[],
): Promise<boolean> {
  try {
    await using db = await Database.open(path, { readOnly: true })
    if (await isOfPast(db)) return false
    for (const node of nodes) {
      if (await isTable(db, node.relation)) await saveSnapshot(db, node, place)
    }
    return true
  } catch (error) {
    throw unreadableHistory(nodes, messageOf(error))
  }
}

/** Whether the file was built with `--as-of`, as it says itself: a changed file has no record. */
async function isOfPast(db: Database): Promise<boolean> {
  if (!(await isTable(db, 'meta.build'))) return false
  return (await db.rows('from meta.build')).some((row) => row['as_of'] != null)
}

export function unreadableHistory(nodes: readonly ModelNode[], reason: string): AppError {
  const names = nodes.map(({ name }) => name).join(', ')
  const problem = `holds the only history of ${names}, and cannot be read: ${reason}`
  return new AppError(`the published warehouse ${problem}`, {
    hint: 'Close programs that have it open, or put a file of published/ in its place. To discard the history, move the warehouse away, then build again.',
  })
}

/**
 * For snapshots whose versions are all in quarantine, while a file that was built with `--as-of` is
 * published.
 */
export function lostHistory(nodes: readonly ModelNode[]): AppError {
  const names = nodes.map(({ name }) => name).join(', ')
  const problem = `${names} has no intact version`
  return new AppError(`${problem}, and the warehouse built with --as-of has an earlier history`, {
    hint: 'Publish the file before it (agent-warehouse rollback), or restore a version in snapshots/ from a backup, then build again. To discard the history, move the warehouse away, then build again.',
  })
}

/**
 * Loads the last version of the snapshot into the database; creates no table if there is none.
 *
 * @throws AppError for a damaged version other than the newest: only the newest was verified before.
 */
export async function loadSnapshot(
  db: Database,
  node: ModelNode,
  { target, asOf }: SnapshotPlace,
): Promise<void> {
  const versions = await snapshotVersions(dirname(target), node.name)
  const last = versions.findLast(({ writtenAt }) => asOf === null || writtenAt <= asOf)
  await db.run(`drop table if exists ${node.relation}`)
  if (last === undefined) return
  const damage = asOf === null ? undefined : await snapshotDamage(last)
  if (damage !== undefined) {
    const what = `snapshot ${node.name}: ${basename(last.path)}: ${damage}`
    throw new AppError(`a build with --as-of needs a damaged file: ${what}`, {
      hint: 'Restore it from a backup, or move it away: then the version before it is used.',
    })
  }
  await db.run(`create schema if not exists ${identifier(node.schema)};
    create table ${node.relation} as from read_parquet(${literal(last.path)}, hive_partitioning = false)`)
}

/**
 * Writes the snapshot's table as a new version: a temporary file, read back, synced and
 * renamed. Writes nothing if a version has the same bytes.
 */
export async function saveSnapshot(
  db: Database,
  node: ModelNode,
  { target, now }: SnapshotPlace,
): Promise<void> {
  const dataFolder = dirname(target)
  const versions = await snapshotVersions(dataFolder, node.name)
  const writtenAt = Math.max(now(), (versions.at(-1)?.writtenAt ?? 0) + 1) // the last is the newest
  const unfinished = snapshotPath(dataFolder, node.name, { writtenAt, sha256: 'new' })
  await withTemporary(unfinished, async (temporary) => {
    const rows = await writableRows(db, node)
    await db.run(`copy (select * from (${rows}) order by all) to ${literal(temporary)}
      (format parquet, compression zstd)`)
    await requireSame(db, node, rows, temporary)
    const version = { writtenAt, sha256: await sha256OfFile(temporary) }
    if (versions.some(({ sha256 }) => sha256 === version.sha256)) return
    await commitFile(temporary, snapshotPath(dataFolder, node.name, version))
  })
}

/** A select of all rows that casts 128-bit integers, which DuckDB's Parquet writer would turn into doubles. */
export async function writableRows(db: Database, { relation }: ModelNode): Promise<string> {
  const { columns, types } = await db.table(`select * from ${relation} limit 0`)
  const wide = columns.filter((_, at) => /^U?HUGEINT$/.test(types[at] ?? ''))
  const casts = wide.map(
    (name) => `cast(${identifier(name)} as decimal(38, 0)) as ${identifier(name)}`,
  )
  const replaced = casts.length === 0 ? '' : ` replace (${casts.join(', ')})`
  return `select *${replaced} from ${relation}`
}

async function requireSame(
  db: Database,
  { name }: ModelNode,
  rows: string,
  path: string,
): Promise<void> {
  const written = `select * from read_parquet(${literal(path)}, hive_partitioning = false)`
  const found = await db.rows(
    `(${rows} except all ${written}) union all (${written} except all ${rows}) limit 1`,
  )
  if (found.length === 0) return
  throw new AppError(`snapshot ${name}: ${path} does not contain the rows that were written to it`)
}

/**
 * Updates the table of a snapshot in one transaction: ends outdated rows, adds rows that are new or
 * changed. `now`: milliseconds since the epoch.
 */
export async function takeSnapshot(
  db: Database,
  node: ModelNode,
  rule: SnapshotRule,
  now: number,
): Promise<void> {
  const values = { relation: node.relation, rows: node.sql, ...expressions(rule, now) }
  if (await isTable(db, node.relation)) {
    await addColumns(db, node)
    await db.run(fill(statement('snapshots/update'), values))
  } else await db.run(fill(statement('snapshots/create'), values))
}

function expressions(rule: SnapshotRule, now: number): Record<string, string> {
  const { unique_key: key, check_cols: checked, hard_deletes: onDelete } = rule
  const time = `cast(${literal(new Date(now).toISOString().slice(0, -1))} as timestamp)`
  const each = (names: readonly string[], is: string, joiner: string): string =>
    names.map((name) => `stored.${identifier(name)} ${is} fresh.${identifier(name)}`).join(joiner)
  const isSame = each(key, 'is not distinct from', ' and ')
  const parts = [...key.map(identifier), time].map(
    (part) => `coalesce(cast(${part} as varchar), '')`,
  )
  return {
    now: time,
    scd_id: `md5(${parts.join(" || '|' || ")})`,
    is_same_key: isSame,
    is_changed: each(checked, 'is distinct from', ' or '),
    is_deleted:
      onDelete === 'ignore' ? 'false' : `not exists (select 1 from fresh where ${isSame})`,
  }
}

async function isTable(db: Database, relation: string): Promise<boolean> {
  return (await relationsIn(db)).get(relation)?.kind === 'table'
}

/** Adds columns that the source has gained; earlier rows have NULL there. */
async function addColumns(db: Database, { relation, sql }: ModelNode): Promise<void> {
  const published = await db.table(`select * from ${relation} limit 0`)
  const fresh = await db.table(`select * from (${sql}) limit 0`)
  for (const [index, name] of fresh.columns.entries()) {
    if (published.columns.includes(name)) continue
    const type = fresh.types[index] ?? 'varchar'
    await db.run(`alter table ${relation} add column ${identifier(name)} ${type}`)
  }
}
