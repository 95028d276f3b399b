import { join } from 'node:path'
import type { Day } from '../lib/days.ts'
import { listLiteral, literal, type Cell, type Database } from '../lib/duckdb.ts'
import { rawFolder } from '../lake/layout.ts'
import { rowsSql } from '../lake/merged.ts'
import { isAnalytics, ITEMS } from '../lake/resources.ts'
import { statement, fill } from '../lib/package.ts'
import {
  keysOf,
  NO_FIELDS,
  shapeOf,
  type Documented,
  type ReadShape,
  type Sample,
} from './documented.ts'

/** The raw files that the rows of one day are made from, the oldest first. */
export interface DaySource {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  readonly files: readonly string[]
}

const RAW = statement('base/steps/raw')
const RAW_EMPTY = statement('base/steps/raw_empty')
const SAMPLE = statement('drift/sample')
const ALL_ITEMS = statement('drift/all_items')
const READ_BACK = statement('drift/read_back')
const DIFFERING_ITEMS = statement('drift/unlike_items')
const NEXT_SHAPE = statement('drift/next_shape')
const STRANGE = statement('drift/strange')
const REPEATED_KEYS = statement('base/steps/repeated_keys')
const REPEATED = statement('drift/repeated')
const DROP_RAW = 'drop table raw'
export const DROP_PARSED = 'drop table if exists parsed'
const DISPLACED = statement('base/steps/displaced')
const DAYS = statement('base/steps/days')

/** Statements that read a batch, whichever entities are made. */
export const BATCH_STATEMENTS: readonly string[] = [RAW, REPEATED_KEYS, DISPLACED, DAYS]

/** Statements that find differences from the documentation in a batch. */
export const FOUND_STATEMENTS: readonly string[] = [
  ...[SAMPLE, ALL_ITEMS, READ_BACK, DIFFERING_ITEMS, NEXT_SHAPE, STRANGE, REPEATED],
]

/** SQL for the organisation in the path of a file (see `pathSegment`). */
const ORGANISATION = String.raw`url_decode(regexp_extract(filename, 'org=([^/\\]*)[/\\]date=[^/\\]*[/\\][^/\\]*$', 1))`

/** SQL for the file name, used in place of the organisation to identify a version. */
const FILE_NAME = String.raw`regexp_extract(filename, '[^/\\]+$')`

/** One day in this many is sampled for the shapes of items. */
const DAYS_PER_SAMPLE = 8

/** A shape that no item matches. */
const NO_SHAPE: ReadShape = { shape: NO_FIELDS, conditions: ['false'], isDocumented: false }

interface ItemsOptions {
  readonly resource: string
  readonly days: readonly DaySource[]
  readonly documented: Documented
  /** Whether to look for items that may differ from the documentation. */
  readonly isExamined: boolean
}

/** Reads the items of some days of one resource. */
export class DayBatch {
  readonly #database: Database
  readonly #dataFolder: string
  readonly resource: string
  readonly documented: Documented
  readonly days: readonly DaySource[]
  readonly #isExamined: boolean
  #hasDisplaced = false

  constructor(
    database: Database,
    dataFolder: string,
    { resource, days, documented, isExamined }: ItemsOptions,
  ) {
    this.#database = database
    this.#dataFolder = dataFolder
    this.resource = resource
    this.days = days
    this.documented = documented
    this.#isExamined = isExamined
  }

  /**
   * Reads the current versions of the days, once, and creates the tables `parsed`,
   * `repeated_keys` and, with the items that may differ from the documentation, `strange`.
   */
  async parse(): Promise<void> {
    if (this.resource === '') return // a file without days, of an entity of all resources
    await this.#database.run(DROP_PARSED) // drop it first: it takes the most memory
    await this.#read(ORGANISATION, -1)
    if (this.#isExamined) await this.#findStrange()
    await this.#database.run(`${parsedSql(this.resource)}; ${DROP_RAW}`)
    await this.#findDisplaced()
  }

  /**
   * Selects differing items with the same key; null if there are none, or for lists whose items may
   * change during pagination.
   */
  repeatedSql(): string | null {
    if (!this.#hasDisplaced || !isAnalytics(this.resource)) return null
    const [key = 'date'] = keysOf(this.documented.get('$'))
    const isNamed = ITEMS[this.resource]?.key !== undefined ? "row_key <> ''" : 'true'
    return fill(REPEATED, { path: literal(`$.${key}`), is_named: isNamed })
  }

  /** Removes all but the day's last item of each key from `parsed`. */
  async removeRepeated(): Promise<void> {
    if (this.#hasDisplaced) await this.#database.run(DISPLACED)
    this.#hasDisplaced = false
  }

  /** Adds the earlier versions to `parsed`, each with its file name in the column `org_id`. */
  async parseEarlier(): Promise<void> {
    await this.#read(FILE_NAME, 0, -1)
    const insert = parsedSql(this.resource, 'insert into parsed by name')
    await this.#database.run(`${insert}; ${DROP_RAW}`)
    await this.#findDisplaced()
    await this.removeRepeated()
  }

  /** The select of the rows of the days; a day without any is one row. */
  daysSql(select: string): string {
    return fill(DAYS, { select, resource: literal(this.resource), ...daysIn(this.days) })
  }

  /**
   * Creates `strange` from the items in `raw` that may differ from the documentation, but of those
   * with one shape and day only the first. Tries one shape at a time: most items match the first.
   */
  async #findStrange(): Promise<void> {
    const [first = NO_SHAPE, ...others] = await this.#shapesServed()
    const readBack = (into: string, items: string, at: number, shape: ReadShape): string =>
      fill(READ_BACK, {
        into,
        items,
        shape: literal(JSON.stringify(shape.shape)),
        conditions: ['true', ...shape.conditions].join(' and '),
        alike: String(shape.isDocumented ? 0 : at + 1),
      })
    await this.#database.run(readBack('compared', ALL_ITEMS, 0, first))
    for (const [at, shape] of others.entries()) {
      if ((await this.#database.table(`from (${DIFFERING_ITEMS}) limit 1`)).rows.length === 0) break
      await this.#database.run(readBack('compared_next', DIFFERING_ITEMS, at + 1, shape))
      await this.#database.run(NEXT_SHAPE)
    }
    await this.#database.run(STRANGE)
  }

  async #findDisplaced(): Promise<void> {
    await this.#database.run(REPEATED_KEYS)
    const { rows } = await this.#database.table('from repeated_keys limit 1')
    this.#hasDisplaced = rows.length > 0
  }

  /** The shapes that items are served in, the most frequent first. */
  async #shapesServed(): Promise<ReadShape[]> {
    const kinds = [...this.documented.keys()].filter((kind) => kind !== '$' && !kind.includes('*'))
    const fields = kinds.map((kind) => {
      const first = `json_extract(item, ${literal(kind.replaceAll('[]', '[0]'))})`
      const all = `json_extract(item, ${literal(kind.replaceAll('[]', '[*]'))})`
      // all elements take far more time and memory than the first
      const object = kind.includes('[]') ? `coalesce(${first}, ${all}[1])` : first
      return `try(json_keys(${object}))`
    })
    const days = this.days.filter((_, at) => at % DAYS_PER_SAMPLE === 0)
    const values = { fields: fields.join(', '), ...daysIn(days) }
    const { rows } = await this.#database.table(fill(SAMPLE, values))
    return rows.flatMap(([keys, found]) => {
      const sample: Sample = new Map(
        kinds.flatMap((kind, at) => {
          const own = namesIn(Array.isArray(found) ? (found as readonly Cell[])[at] : null)
          return own === null ? [] : [[kind, own] as const]
        }),
      )
      return shapeOf(this.documented, namesIn(keys) ?? [], sample) ?? []
    })
  }

  /**
   * Creates the table `raw` from a slice of the versions of each day (see `Array.slice`).
   * `orgIdSql` is its column `org_id`.
   */
  async #read(orgIdSql: string, from: number, to?: number): Promise<void> {
    const paths = this.days.flatMap(({ orgId, resource, day, files }) => {
      const folder = rawFolder(this.#dataFolder, orgId, resource, day)
      return files.slice(from, to).map((file) => join(folder, file))
    })
    const isEmpty = paths.length === 0
    const read = (): string => fill(RAW, { org_id: orgIdSql, rows: rowsSql(paths) })
    await this.#database.run(isEmpty ? RAW_EMPTY : read())
  }
}

/** SQL lists of the organisations and the dates of days. */
function daysIn(days: readonly DaySource[]): { readonly org_ids: string; readonly days: string } {
  const orgIds = days.map(({ orgId }) => orgId)
  return { org_ids: listLiteral(orgIds), days: listLiteral(days.map(({ day }) => day)) }
}

function namesIn(cell: Cell | undefined): string[] | null {
  return Array.isArray(cell) ? cell.map(String) : null
}

/** The macros of the statements that make base. */
export const MACROS = ['lake/macros', 'base/_numbers', 'base/_macros', 'drift/macros']
  .map(statement)
  .join(';\n')

const PARSED = statement('base/steps/parsed')

/** Makes the table `parsed` of the items in `raw`. */
export function parsedSql(
  resource: string,
  into = 'create or replace temp table parsed as',
): string {
  const read = ITEMS[resource]
  if (read === undefined) throw new RangeError(`there are no items of ${resource}`)
  return fill(PARSED, {
    into,
    shape: literal(JSON.stringify(read.item)),
    // an analytics day that is fetched again is a separate version
    place: `{${isAnalytics(resource) ? '' : "'fetched_at': fetched_at, "}'page': page, 'ordinal': ordinal}`,
    has_large_numbers: resource === 'tokens' ? 'has_large_numbers(item)' : 'false',
    columns: read.columns === undefined ? '' : `${read.columns},`,
    key: read.key ?? "''",
  })
}
