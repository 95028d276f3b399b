import { hash } from 'node:crypto'
import { z } from 'zod'
import { dayShape } from '../../lake/ledger.ts'
import type { Day } from '../../lib/days.ts'
import type { EntityResource } from '../../lake/resources.ts'
import { literal, type Row } from '../../lib/duckdb.ts'
import type { Warn } from '../../lib/world.ts'
import { versionPath } from '../../lake/layout.ts'
import { rowsSql } from '../../lake/merged.ts'
import type { Ledger } from '../../lake/ledger.ts'
import { mapOf, stateFile } from '../../lake/state-file.ts'
import { statement, fill } from '../../lib/package.ts'
import type { LandingDatabase } from '../land/raw-writer.ts'
import type { RawRow } from '../../lake/raw-days.ts'

/** Whose lake is read. */
export interface LakeOf {
  readonly dataFolder: string
  readonly orgId: string
  readonly recorder: { readonly intervals: Ledger }
  /** The database that reads the lake. */
  readonly database: LandingDatabase
}

/** The text of a column; empty where it has none. */
export function textIn(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string' ? value : ''
}

/**
 * The items of a resource that have landed, on whatever day. `key`: the JSON path of what identifies
 * an item.
 */
export async function knownItems(lake: LakeOf, resource: EntityResource, key: string) {
  const rows = await askLake(lake, resource, 'known_items', { key: literal(key) })
  const hashes = new Set(rows.map((row) => textIn(row, 'hash')))
  const keys = new Set(rows.map((row) => textIn(row, 'key')))
  return {
    /** Whether exactly this item landed last of those with its key. */
    has: ({ item }: RawRow): boolean => hashes.has(hash('sha256', item)),
    /** Whether an item with this key has landed, even with other content. */
    hasKey: (key: string): boolean => keys.has(key),
  }
}

/**
 * Runs a statement of `sql/lake` over the current version of every day of a resource; the
 * caller verifies the files. Returns no rows if nothing has landed.
 */
export async function askLake(
  { dataFolder, orgId, recorder, database }: LakeOf,
  resource: EntityResource,
  name: string,
  values: Readonly<Record<string, string>> = {},
): Promise<readonly Row[]> {
  const files = [...recorder.intervals.values()].flatMap(({ resource: of, day, file }) =>
    of !== resource || file === null
      ? []
      : [versionPath(dataFolder, orgId, { resource, day, file })],
  )
  if (files.length === 0) return []
  const sql = fill(statement(`lake/${name}`), { ...values, rows: rowsSql(files) })
  return database.use((connection) => connection.rows(sql))
}

/** By resource. */
export type LandedDays = ReadonlyMap<string, readonly Day[]>

const daysFile = stateFile<LandedDays>('beside', mapOf(z.array(dayShape).readonly()), 0)

/**
 * The days that had landed when each resource was last fetched completely, so that days that
 * go missing later are detected: `<data>/state/beside/<org>.json`.
 */
export async function landedBefore(lake: LakeOf, warn?: Warn): Promise<LandedDays> {
  return (await daysFile.read(lake.dataFolder, lake.orgId, warn)) ?? new Map()
}

/** Days that went missing since then, in order; undefined if it was never completely fetched. */
export function missingDays(
  lake: LakeOf,
  before: LandedDays,
  resource: EntityResource,
): readonly Day[] | undefined {
  const landed = new Set(landedDays(lake, resource))
  const missing = before.get(resource)?.filter((day) => !landed.has(day))
  return missing?.sort()
}

/** Saves which days have landed of the completely fetched resources. */
export async function saveLandedDays(
  lake: LakeOf,
  before: LandedDays,
  fetched: readonly EntityResource[],
): Promise<void> {
  const now = fetched.map((resource) => [resource, landedDays(lake, resource)] as const)
  await daysFile.write(lake.dataFolder, lake.orgId, new Map([...before, ...now]))
}

function landedDays({ recorder }: LakeOf, resource: EntityResource): Day[] {
  return [...recorder.intervals.values()]
    .filter((interval) => interval.resource === resource && interval.file !== null)
    .map(({ day }) => day)
    .sort()
}
