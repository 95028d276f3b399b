import { join } from 'node:path'
import type { Day } from '../lib/days.ts'
import { listLiteral, literal, type Cell, type Database } from '../lib/duckdb.ts'
import { rawFolder } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'
import { keysOf, shapeOf, type Documented, type ReadShape, type Sample } from './documented.ts'
import { isAnalytics } from './entities.ts'
import { isKeyed, parsedSql } from './items.ts'

/** The raw files that the rows of one day are made from, the oldest first. */
export interface DaySource {
  readonly resource: string
  readonly day: Day
  readonly files: readonly string[]
}

/** Where raw is read from. */
interface RawLake {
  readonly dataFolder: string
  readonly orgId: string
}

const RAW = statement('base/steps/raw')
const RAW_EMPTY = statement('base/steps/raw_empty')
const SAMPLE = statement('drift/sample')
const STRANGE = statement('drift/strange')
const REPEATED_KEYS = statement('base/steps/repeated_keys')
const REPEATED = statement('drift/repeated')
const DROP_RAW = 'drop table raw'
const DISPLACED = statement('base/steps/displaced')
const DAYS = statement('base/steps/days')

/** What a batch is read by, whatever is made of it. */
export const BATCH_STATEMENTS: readonly string[] = [RAW, REPEATED_KEYS, DISPLACED, DAYS]

/** What the findings of a batch are read by. */
export const FOUND_STATEMENTS: readonly string[] = [SAMPLE, STRANGE, REPEATED]

/** The name of its file stands in the place of the organisation: a version is known by it. */
const FILE_NAME = String.raw`regexp_extract(filename, '[^/\\]+$')`

/** One day in so many tells how items are served. */
const DAYS_PER_SAMPLE = 8

/** Days of one resource, few enough to be read at once by the statements on a connection. */
export class DayBatch {
  readonly #database: Database
  readonly #lake: RawLake
  readonly resource: string
  readonly days: readonly DaySource[]
  readonly documented: Documented
  #shapes: readonly ReadShape[] = []
  #hasDisplaced = false

  constructor(
    database: Database,
    lake: RawLake,
    days: Pick<DayBatch, 'resource' | 'days' | 'documented'>,
  ) {
    this.#database = database
    this.#lake = lake
    this.resource = days.resource
    this.days = days.days
    this.documented = days.documented
  }

  get orgId(): string {
    return this.#lake.orgId
  }

  /**
   * Makes the table `parsed` of the current versions, the only time that raw is read for
   * them, `strange` of items that may be otherwise than documented, and `repeated_keys`.
   */
  async parse(): Promise<void> {
    await this.#read(literal(this.orgId), -1)
    this.#shapes = await this.#shapesServed()
    await this.#database.run(parsedSql(this.resource, this.#shapes))
    await this.#database.run(`${DROP_RAW}; ${STRANGE}`)
    await this.#findDisplaced()
  }

  /** The select of items of one key that differ; null where there are none, or where they may. */
  repeatedSql(): string | null {
    // an item of another list may change during the pagination
    if (!this.#hasDisplaced || !isAnalytics(this.resource)) return null
    const [key = 'date'] = keysOf(this.documented.get('$'))
    const isNamed = isKeyed(this.resource) ? "row_key <> ''" : 'true'
    return fill(REPEATED, { path: literal(`$.${key}`), is_named: isNamed })
  }

  /** Of items with one key, leaves the last of the day in `parsed`. */
  async leaveOutDisplaced(): Promise<void> {
    if (this.#hasDisplaced) await this.#database.run(DISPLACED)
    this.#hasDisplaced = false
  }

  /** Adds the earlier versions to `parsed`, each as an organisation of its own. */
  async parseEarlier(): Promise<void> {
    await this.#read(FILE_NAME, 0, -1)
    const into = 'insert into parsed by name'
    await this.#database.run(parsedSql(this.resource, this.#shapes, into))
    await this.#database.run(DROP_RAW)
    await this.#findDisplaced()
    await this.leaveOutDisplaced()
  }

  /** The select of the rows of all days of the batch; a day without any is one row. */
  daysSql(select: string): string {
    const dates = listLiteral(this.days.map(({ day }) => day))
    const [org, resource] = [literal(this.orgId), literal(this.resource)]
    return fill(DAYS, { select, org_id: org, resource, days: dates })
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
    const days = this.days.filter((_, at) => at % DAYS_PER_SAMPLE === 0).map(({ day }) => day)
    const values = { fields: fields.join(', '), days: listLiteral(days) }
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

  /** Makes the table `raw` of the versions of the days from one place in their order to another. */
  async #read(orgId: string, from: number, to?: number): Promise<void> {
    const paths = this.days.flatMap(({ resource, day, files }) => {
      const folder = rawFolder(this.#lake.dataFolder, this.orgId, resource, day)
      return files.slice(from, to).map((file) => join(folder, file))
    })
    const read = fill(RAW, { org_id: orgId, files: listLiteral(paths) })
    await this.#database.run(paths.length === 0 ? RAW_EMPTY : read)
  }
}

function namesIn(cell: Cell | undefined): string[] | null {
  return Array.isArray(cell) ? cell.map(String) : null
}
