import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { ConnectionPool } from '../lib/connection-pool.ts'
import type { Day } from '../lib/days.ts'
import { Database, listLiteral, literal, type Cell } from '../lib/duckdb.ts'
import { messageOf } from '../lib/errors.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'
import { spillFolder } from '../lib/spill.ts'
import { rawFolder } from '../lake/layout.ts'
import { rowsSql } from '../lake/merged.ts'
import { isAnalytics, ITEMS } from '../lake/resources.ts'
import {
  keysOf,
  NO_FIELDS,
  readDocumented,
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

/** Statements that read a batch, whichever entities are made. */
export const BATCH_STATEMENTS = ['raw', 'repeated_keys', 'displaced', 'days'].map((name) =>
  statement(`base/steps/${name}`),
)

/** SQL for the organisation in the path of a file (see `pathSegment`). */
const ORGANISATION = String.raw`url_decode(regexp_extract(filename, 'org=([^/\\]*)[/\\]date=[^/\\]*[/\\][^/\\]*$', 1))`

/** SQL for the file name, used in place of the organisation to identify a version. */
const FILE_NAME = String.raw`regexp_extract(filename, '[^/\\]+$')`

/** One day in this many is sampled for the shapes of items. */
const DAYS_PER_SAMPLE = 8

/** A shape that no item matches. */
const NO_SHAPE: ReadShape = { shape: NO_FIELDS, conditions: ['false'], isDocumented: false }

export const DROP_PARSED = 'drop table if exists parsed'

/** Some days of one resource, whose items are read together. */
export class DayBatch {
  readonly database: Database
  readonly resource: string
  readonly days: readonly DaySource[]
  readonly documented: Documented
  readonly #dataFolder: string
  #hasDisplaced = false

  constructor(
    database: Database,
    dataFolder: string,
    { resource, days, documented }: Pick<DayBatch, 'resource' | 'days' | 'documented'>,
  ) {
    this.database = database
    this.#dataFolder = dataFolder
    this.resource = resource
    this.days = days
    this.documented = documented
  }

  /**
   * Reads the current versions of the days, once, and creates the tables `parsed`,
   * `repeated_keys` and, if `isExamined`, with the items that may differ from the documentation,
   * `strange`.
   */
  async parse(isExamined: boolean): Promise<void> {
    if (this.resource === '') return // a file without days, of an entity of all resources
    await this.database.run(DROP_PARSED) // drop it first: it takes the most memory
    await this.#read(ORGANISATION, -1)
    if (isExamined) await this.#findStrange()
    await this.#parseRaw()
  }

  /**
   * Selects differing items with the same key; null if there are none, or for lists whose items may
   * change during pagination.
   */
  repeatedSql(): string | null {
    if (!this.#hasDisplaced || !isAnalytics(this.resource)) return null
    const [key = 'date'] = keysOf(this.documented.get('$'))
    const isNamed = ITEMS[this.resource]?.key !== undefined ? "row_key <> ''" : 'true'
    return fill(statement('drift/repeated'), { path: literal(`$.${key}`), is_named: isNamed })
  }

  /** Removes all but the day's last item of each key from `parsed`. */
  async removeRepeated(): Promise<void> {
    if (this.#hasDisplaced) await this.database.run(statement('base/steps/displaced'))
    this.#hasDisplaced = false
  }

  /** Adds the earlier versions to `parsed`, each with its file name in the column `org_id`. */
  async parseEarlier(): Promise<void> {
    await this.#read(FILE_NAME, 0, -1)
    await this.#parseRaw('insert into parsed by name')
    await this.removeRepeated()
  }

  /** The select of the rows of the days; a day without any is one row. */
  daysSql(select: string): string {
    return fill(statement('base/steps/days'), {
      select,
      resource: literal(this.resource),
      ...daysIn(this.days),
    })
  }

  /**
   * Creates `strange` from the items in `raw` that may differ from the documentation, but of those
   * with the most frequent shape only the first of each day.
   */
  async #findStrange(): Promise<void> {
    const { shape, conditions, isDocumented } = (await this.#shapeServed()) ?? NO_SHAPE
    const values = {
      shape: literal(JSON.stringify(shape)),
      conditions: ['true', ...conditions].join(' and '),
      is_documented: String(isDocumented),
    }
    await this.database.run(fill(statement('drift/strange'), values))
  }

  async #parseRaw(into?: string): Promise<void> {
    await this.database.run(`${parsedSql(this.resource, into)}; drop table raw`)
    await this.database.run(statement('base/steps/repeated_keys'))
    this.#hasDisplaced = await hasRows(this.database, 'from repeated_keys')
  }

  /** The shape that most items are served in. */
  async #shapeServed(): Promise<ReadShape | undefined> {
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
    const { rows } = await this.database.table(fill(statement('drift/sample'), values))
    const [keys, found] = rows[0] ?? []
    const sample: Sample = new Map(
      kinds.flatMap((kind, at) => {
        const own = namesIn(Array.isArray(found) ? (found as readonly Cell[])[at] : null)
        return own === null ? [] : [[kind, own] as const]
      }),
    )
    return shapeOf(this.documented, namesIn(keys) ?? [], sample)
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
    const raw = statement('base/steps/raw')
    await this.database.run(
      paths.length === 0
        ? statement('base/steps/raw_empty')
        : fill(raw, { org_id: orgIdSql, rows: rowsSql(paths) }),
    )
  }
}

export async function hasRows(database: Database, select: string): Promise<boolean> {
  return (await database.table(`${select} limit 1`)).rows.length > 0
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

/** Makes the table `parsed` of the items in `raw`. */
export function parsedSql(
  resource: string,
  into = 'create or replace temp table parsed as',
): string {
  const read = ITEMS[resource]
  if (read === undefined) throw new RangeError(`there are no items of ${resource}`)
  return fill(statement('base/steps/parsed'), {
    into,
    // settings are leaves of JSON, where the text "0.5" and the number 0.5 are two values
    item: resource === 'enterprise_controls' ? 'item' : "exact(item, '')",
    shape: literal(JSON.stringify(read.item)),
    // an analytics day that is fetched again is a separate version
    place: `{${isAnalytics(resource) ? '' : "'fetched_at': fetched_at, "}'page': page, 'ordinal': ordinal}`,
    has_large_numbers: resource === 'tokens' ? 'has_large_numbers(item)' : 'false',
    columns: read.columns === undefined ? '' : `${read.columns},`,
    key: read.key ?? "''",
  })
}

/** A connection, the folder for intermediate files, and the documented fields. */
export interface Worker {
  readonly database: Database
  readonly folder: string
  readonly documented: ReadonlyMap<string, Documented>
}

/** The database in which base is made, for one organisation after another. Dispose of it. */
export class BaseEngine extends ConnectionPool<Worker> {
  readonly #folder: string
  readonly #oneAtATime = new PQueue({ concurrency: 1 })

  constructor(dataFolder: string) {
    const folder = join(spillFolder(dataFolder), 'base')
    const { concurrency, memoryLimit } = processLimits().base
    super({
      concurrency,
      open: async () => {
        await mkdir(folder, { recursive: true })
        return Database.open(':memory:', {
          memoryLimit,
          threads: 1,
          freed: 'early',
          tempDirectory: folder,
        })
      },
      prepare: async (database) => {
        await database.run(MACROS)
        return { database, folder, documented: await readDocumented(database) }
      },
    })
    this.#folder = folder
  }

  /** The same as `use`, repeated with memory for huge rows if there is too little. One at a time. */
  useWithMoreMemory<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
    return this.#oneAtATime.add(() =>
      this.use(async (worker) => {
        try {
          return await work(worker)
        } catch (error) {
          if (!/out of memory/i.test(messageOf(error))) throw error
          const { memoryLimit, memoryForHugeRows } = processLimits().base
          const limitTo = (memory: string): Promise<void> =>
            worker.database.run(`set memory_limit = '${memory}'`)
          await limitTo(memoryForHugeRows)
          const result = await work(worker).catch(async (failure: unknown) => {
            await limitTo(memoryLimit).catch(() => undefined) // `failure` is reported
            throw failure
          })
          await limitTo(memoryLimit)
          return result
        }
      }),
    )
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
