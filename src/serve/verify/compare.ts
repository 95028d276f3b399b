import type { Day } from '../../lib/days.ts'
import { UsageError } from '../../lib/errors.ts'
import { Database, identifier, literal, type Row } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import { statement, fill } from '../../lib/package.ts'
import { sqlMessage, withWarehouse } from '../warehouse.ts'
import type { ScopedInterval } from './sample.ts'

/** A table of facts with one row per day and key. */
export interface FactTable {
  readonly name: string
  /** `schema.name` */
  readonly relation: string
  readonly columns: readonly string[]
  /** The columns that together are unique; `org_id` and `activity_date` are among them. */
  readonly key: readonly string[]
}

/** What the warehouse has otherwise than the platform. */
export interface Difference {
  readonly table: string
  readonly orgId: string
  readonly day: string
  /** The rest of the row's key, as text. */
  readonly key: Readonly<Record<string, string | null>>
  /** `value`: of one column; `missing`: the warehouse lacks the row; `extra`: the platform does. */
  readonly kind: 'value' | 'missing' | 'extra'
  /** Null for a whole row, as are the values. */
  readonly column: string | null
  readonly warehouse: string | null
  readonly platform: string | null
}

export interface Comparison {
  readonly tables: number
  /** Rows of the warehouse that were compared, and their values. */
  readonly rows: number
  readonly values: number
  readonly differences: readonly Difference[]
}

export interface CompareOptions {
  /** The published file. */
  readonly warehouse: string
  readonly intervals: readonly ScopedInterval[]
  /**
   * Makes the fact tables as the platform serves them, in the database in use;
   * `verify.intervals` says of which days. Returns those to compare.
   */
  readonly makeFacts: (database: Database) => Promise<readonly FactTable[]>
  /** Where queries spill. */
  readonly tempDirectory: string
}

/**
 * Compares every fact of the intervals' days, value by value and in both
 * directions, rows that stand more than once included.
 *
 * @throws UsageError when the published file lacks a table or a column.
 */
export async function compareFacts(options: CompareOptions): Promise<Comparison> {
  const { warehouse, tempDirectory } = options
  const database = await Database.open(':memory:', { ...processLimits().build, tempDirectory })
  try {
    await database.run(`attach ${literal(warehouse)} as published (read_only)`)
    await fillIntervals(database, options.intervals)
    const facts = await options.makeFacts(database)
    const days = daysOf(options.intervals)
    const parts: Comparison[] = []
    for (const fact of facts) parts.push(await compareFact(database, fact, days))
    return sum(parts)
  } finally {
    database.close()
  }
}

/** What the published warehouse has: by organisation, keys `resource/day`. */
export async function publishedIntervals(
  warehouse: string,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await withWarehouse(warehouse, (database) =>
    database.rows(statement('verify/published_intervals')),
  )
  const known = new Map<string, Set<string>>()
  for (const row of rows) {
    const orgId = textOf(row, 'org_id') ?? ''
    const keys = known.get(orgId) ?? new Set()
    const key = `${textOf(row, 'resource') ?? ''}/${textOf(row, 'activity_date') ?? ''}`
    known.set(orgId, keys.add(key))
  }
  return known
}

async function fillIntervals(
  database: Database,
  intervals: readonly ScopedInterval[],
): Promise<void> {
  const rows = intervals.map(({ orgId, resource, day, isLanded }) => ({
    org_id: orgId,
    resource,
    activity_date: day,
    is_landed: isLanded,
  }))
  await database.run(statement('verify/intervals'))
  await database.rows(statement('verify/intervals_fill'), { rows: JSON.stringify(rows) })
}

const RESIDUALS = statement('verify/residuals')
const ROW_COUNT = statement('verify/row_count')
const LONE_ROWS = statement('verify/lone_rows')
const CHANGED_VALUES = statement('verify/changed_values')

async function compareFact(
  database: Database,
  fact: FactTable,
  days: readonly Day[],
): Promise<Comparison> {
  const sides = {
    published: `published.${fact.relation}`,
    relation: `memory.${fact.relation}`,
    columns: fact.columns.map(identifier).join(', '),
    days: days.map((day) => `date ${literal(day)}`).join(', '),
  }
  try {
    await database.run(fill(RESIDUALS, sides))
    const [count] = await database.rows(fill(ROW_COUNT, sides))
    const rows = Number(count?.['rows'] ?? 0)
    const differences = await differencesOf(database, fact)
    return { tables: 1, rows, values: rows * fact.columns.length, differences }
  } catch (error) {
    throw new UsageError(`${fact.name} cannot be compared: ${sqlMessage(error)}`, {
      hint: 'A warehouse of another version has other columns: `agent-warehouse build`, then again.',
      cause: error,
    })
  }
}

async function differencesOf(database: Database, fact: FactTable): Promise<Difference[]> {
  const key = keySql(fact)
  const sameKey = fact.key
    .map(identifier)
    .map((column) => `ours.${column} is not distinct from theirs.${column}`)
    .join(' and ')
  const values = fact.columns
    .filter((column) => !fact.key.includes(column))
    .map((column) =>
      fill(CHANGED_VALUES, {
        key,
        same_key: sameKey,
        column: identifier(column),
        column_name: literal(column),
      }),
    )
  const lone = await database.rows(fill(LONE_ROWS, { key, same_key: sameKey }))
  const changed =
    values.length === 0
      ? []
      : await database.rows(`${values.join('\nunion all\n')}\norder by 1, 2, 3, 4`)
  return [...lone, ...changed].map((row) => differenceOf(fact, row))
}

/** The key beyond organisation and day, as JSON. */
function keySql(fact: FactTable): string {
  const columns = fact.key.filter((column) => column !== 'org_id' && column !== 'activity_date')
  const pairs = columns.flatMap((column) => [
    literal(column),
    `cast(ours.${identifier(column)} as varchar)`,
  ])
  return `json_object(${pairs.join(', ')})`
}

function differenceOf(fact: FactTable, row: Row): Difference {
  const column = textOf(row, 'column_name')
  return {
    table: fact.name,
    orgId: textOf(row, 'org_id') ?? '',
    day: textOf(row, 'activity_date') ?? '',
    key: JSON.parse(textOf(row, 'row_key') ?? '{}') as Record<string, string | null>,
    kind: column !== null ? 'value' : row['is_extra'] === true ? 'extra' : 'missing',
    column,
    warehouse: textOf(row, 'warehouse'),
    platform: textOf(row, 'platform'),
  }
}

/** Of a VARCHAR column; null where it is NULL, and where the row has no such column. */
function textOf(row: Row | undefined, column: string): string | null {
  const cell = row?.[column]
  return typeof cell === 'string' ? cell : null
}

function daysOf(intervals: readonly ScopedInterval[]): Day[] {
  return [...new Set(intervals.map(({ day }) => day))].sort()
}

function sum(parts: readonly Comparison[]): Comparison {
  const add = (count: (part: Comparison) => number): number =>
    parts.reduce((total, part) => total + count(part), 0)
  return {
    tables: add(({ tables }) => tables),
    rows: add(({ rows }) => rows),
    values: add(({ values }) => values),
    differences: parts.flatMap(({ differences }) => differences),
  }
}
