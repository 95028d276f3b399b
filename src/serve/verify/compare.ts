import { z } from 'zod'
import type { Day } from '../../lib/days.ts'
import { AppError, UsageError } from '../../lib/errors.ts'
import { grouped } from '../../lib/grouped.ts'
import {
  Database,
  identifier,
  insertRows,
  literal,
  listLiteral,
  type Row,
} from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import { statement, fill } from '../../lib/package.ts'
import { publishedRows, sqlMessage } from '../warehouse.ts'
import { baseGlob, versionPath, type RawFile } from '../../lake/layout.ts'
import { dayShape, LedgerFile } from '../../lake/ledger.ts'
import { mergedPlace } from '../../lake/merged.ts'

/** A table of facts with one row per day and key. */
export interface FactTable {
  readonly name: string
  /** `schema.name` */
  readonly relation: string
  readonly columns: readonly string[]
  /** The columns that together are unique; `org_id` and `activity_date` are among them. */
  readonly key: readonly string[]
}

/** A difference between the warehouse and the platform. */
export type Difference = Readonly<ReturnType<typeof differenceOf>>

/** A resource's day that is compared. */
export interface ScopedInterval {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  /** False if the warehouse does not have it; then neither side may have rows. */
  readonly isLanded: boolean
}

interface CompareOptions {
  /** The published file. */
  readonly warehouse: string
  readonly intervals: readonly ScopedInterval[]
  /**
   * Makes the fact tables, as the platform serves them, in the database in use, for the
   * days in `verify.intervals`. Returns the tables to compare.
   */
  readonly makeFacts: (database: Database) => Promise<readonly FactTable[]>
  /** Where queries spill. */
  readonly tempDirectory: string
  /** When it aborts, the comparison ends with an error. */
  readonly signal: AbortSignal
}

/**
 * Compares every fact of the intervals' days, value by value and in both
 * directions, repeated rows included.
 *
 * @returns the numbers of tables, of compared rows of the warehouse, and of their values.
 * @throws UsageError if the published file lacks a table or a column.
 */
export async function compareFacts(options: CompareOptions) {
  const { warehouse, intervals, tempDirectory, signal } = options
  const limits = processLimits().build
  await using database = await Database.open(':memory:', { ...limits, tempDirectory, signal })
  await database.run(`attach ${literal(warehouse)} as published (read_only)`)
  await database.run(statement('verify/intervals'))
  const wanted = intervals.map(({ orgId, resource, day, isLanded }) => {
    return { org_id: orgId, resource, activity_date: day, is_landed: isLanded }
  })
  await insertRows(database, 'verify.intervals', wanted)
  const facts = await options.makeFacts(database)
  const days = [...new Set(intervals.map(({ day }) => day))].sort()
  const differences: Difference[][] = []
  let [rows, values] = [0, 0]
  for (const fact of facts) {
    const compared = await compareFact(database, fact, days)
    differences.push(compared.differences)
    rows += compared.rows
    values += compared.rows * fact.columns.length
  }
  return { tables: facts.length, rows, values, differences: differences.flat() }
}

const publishedRow = z.object({
  org_id: z.string(),
  resource: z.string(),
  activity_date: z.string(),
})

/** The intervals in the published warehouse: keys `resource/day`, by organisation. */
export async function publishedIntervals(warehouse: string) {
  const rows = await publishedRows(warehouse, 'verify/published_intervals', publishedRow)
  const byOrganisation = grouped(rows, ({ org_id }) => org_id)
  const keyOf = (row: z.output<typeof publishedRow>) => `${row.resource}/${row.activity_date}`
  return new Map([...byOrganisation].map(([orgId, own]) => [orgId, new Set(own.map(keyOf))]))
}

async function compareFact(database: Database, fact: FactTable, days: readonly Day[]) {
  const sides = {
    published: `published.${fact.relation}`,
    relation: `memory.${fact.relation}`,
    columns: fact.columns.map(identifier).join(', '),
    days: days.map((day) => `date ${literal(day)}`).join(', '),
  }
  try {
    await database.run(fill(statement('verify/residuals'), sides))
    const [count] = await database.rows(fill(statement('verify/row_count'), sides))
    const rows = Number(count?.['rows'] ?? 0)
    const [left] = await database.rows('select count(*) as rows from residuals')
    // usually both sides are equal, and no column needs to be compared
    const differences = left?.['rows'] === '0' ? [] : await differencesOf(database, fact)
    return { rows, differences }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new UsageError(`${fact.name} cannot be compared: ${sqlMessage(error)}`, {
      hint: 'A warehouse of another release has other columns: run `agent-warehouse build`, then verify again.',
      cause: error,
    })
  }
}

async function differencesOf(database: Database, fact: FactTable): Promise<Difference[]> {
  const key = keySql(fact)
  const same_key = fact.key
    .map(identifier)
    .map((column) => `ours.${column} is not distinct from theirs.${column}`)
    .join(' and ')
  const values = fact.columns
    .filter((column) => !fact.key.includes(column))
    .map((column) => {
      const names = { column: identifier(column), column_name: literal(column) }
      return fill(statement('verify/changed_values'), { key, same_key, ...names })
    })
  const lone = await database.rows(fill(statement('verify/lone_rows'), { key, same_key }))
  const changed =
    values.length === 0
      ? []
      : await database.rows(`${values.join('\nunion all\n')}\norder by 1, 2, 3, 4`)
  return [...lone, ...changed].map((row) => differenceOf(fact, row))
}

function keySql(fact: FactTable): string {
  const columns = fact.key.filter((column) => column !== 'org_id' && column !== 'activity_date')
  const pairs = columns.flatMap((column) => [
    literal(column),
    `cast(ours.${identifier(column)} as varchar)`,
  ])
  return `json_object(${pairs.join(', ')})`
}

const text = z.string().nullable().default(null)

const differenceRow = z.object({
  org_id: z.string(),
  activity_date: z.string(),
  row_key: z.string(),
  is_extra: z.boolean().default(false),
  column_name: text,
  warehouse: text,
  platform: text,
})

const rowKey = z.record(z.string(), z.string().nullable())

function differenceOf({ name }: FactTable, row: Row) {
  const { org_id: orgId, activity_date: day, ...read } = differenceRow.parse(row)
  const { row_key, is_extra, column_name: column, warehouse, platform } = read
  return {
    table: name,
    orgId,
    day,
    /** The rest of the row's key, as text. */
    key: rowKey.parse(JSON.parse(row_key)),
    /** `value`: in one column; `missing`: the warehouse lacks the row; `extra`: the platform does. */
    kind:
      column !== null ? ('value' as const) : is_extra ? ('extra' as const) : ('missing' as const),
    /** Null, like the values, for a whole row. */
    column,
    warehouse,
    platform,
  }
}

/** A damaged raw file; `path`: of the merged file, if the version is in one. */
export interface DamagedFile extends Omit<ScopedInterval, 'isLanded'> {
  readonly path: string
  readonly reason: string
}

/**
 * Why a version of a day is damaged; undefined if it is intact. `sha256`: as the ledger recorded it.
 */
export type DamageOf = (
  orgId: string,
  version: RawFile,
  sha256: string | null,
) => Promise<{ readonly reason: string } | undefined>

/**
 * Verifies the current raw files of the days, until the signal aborts.
 *
 * @returns how many files were verified, and the damaged ones.
 */
export async function verifyFiles(
  dataFolder: string,
  orgIds: readonly string[],
  days: readonly Day[],
  damageOf: DamageOf,
  signal: AbortSignal,
) {
  const sampled = new Set(days)
  const damaged: DamagedFile[] = []
  let files = 0
  for (const orgId of orgIds) {
    for (const interval of (await LedgerFile.read(dataFolder, orgId)).values()) {
      const { resource, day, file, sha256 } = interval
      if (file === null || !sampled.has(day)) continue
      signal.throwIfAborted()
      const version = { resource, day, file }
      const damage = await damageOf(orgId, version, sha256)
      files += 1
      if (damage === undefined) continue
      const own = versionPath(dataFolder, orgId, version)
      const path = mergedPlace(own)?.merged.path ?? own
      damaged.push({ orgId, resource, day, path, reason: damage.reason })
    }
  }
  return { files, damaged }
}

const notStoredRow = z.object({
  orgId: z.string(),
  resource: z.string(),
  path: z.string(),
  /**
   * `unreadable`: NULL in the warehouse; `overflow`: its sum is NULL; `rounded`: to six
   * decimals.
   */
  kind: z.enum(['unreadable', 'overflow', 'rounded']),
  day: dayShape,
})

/** A served number that the warehouse cannot store. */
export type NotStored = Readonly<z.output<typeof notStoredRow>>

/**
 * The served numbers of these days that base stores differently. The comparison of facts
 * cannot find them, because both sides are read by the same statements.
 */
export async function notStored(dataFolder: string, days: readonly Day[]): Promise<NotStored[]> {
  await using database = await Database.open(':memory:')
  const drift = listLiteral([baseGlob(dataFolder, 'schema_drift')])
  const { rows } = await database.table(fill(statement('verify/not_stored'), { drift }))
  return rows.flatMap(([orgId, resource, path, kind, day]) => {
    const { data } = notStoredRow.safeParse({ orgId, resource, path, kind, day })
    return data !== undefined && days.includes(data.day) ? [data] : []
  })
}
