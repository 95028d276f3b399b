import { join } from 'node:path'
import type { Day } from '../lib/days.ts'
import { listLiteral, literal, type Database } from '../lib/duckdb.ts'
import { rawFolder } from '../lake/layout.ts'
import { statement, fill } from '../lib/package.ts'
import { parsedSql } from './macros.ts'

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

export const RAW = statement('base/steps/raw')
export const RAW_EMPTY = statement('base/steps/raw_empty')

/** The name of its file stands in the place of the organisation: a version is known by it. */
const FILE_NAME = String.raw`regexp_extract(filename, '[^/\\]+$')`

export const DAYS = statement('base/steps/days')

/** The select of the rows of all days of a batch; a day without any is one row. */
export function daysSql({ orgId, resource, days }: DayBatch, select: string): string {
  const dates = listLiteral(days.map(({ day }) => day))
  return fill(DAYS, { select, org_id: literal(orgId), resource: literal(resource), days: dates })
}

/** Days of one resource, few enough to be read at once by the statements on a connection. */
export class DayBatch {
  readonly #database: Database
  readonly #lake: RawLake
  readonly resource: string
  readonly days: readonly DaySource[]

  constructor(database: Database, lake: RawLake, resource: string, days: readonly DaySource[]) {
    this.#database = database
    this.#lake = lake
    this.resource = resource
    this.days = days
  }

  get orgId(): string {
    return this.#lake.orgId
  }

  /** Makes `raw` the current versions of some of the days. */
  async read(days: readonly DaySource[]): Promise<void> {
    await this.#view(literal(this.orgId), days, -1)
  }

  /** Makes the table `parsed` of the current versions. */
  async parse(): Promise<void> {
    await this.read(this.days)
    await this.#database.run(parsedSql(this.resource))
  }

  /** Adds the earlier versions to `parsed`, each as an organisation of its own. */
  async parseEarlier(): Promise<void> {
    await this.#view(FILE_NAME, this.days, 0, -1)
    await this.#database.run(parsedSql(this.resource, 'insert into parsed by name'))
  }

  /** Makes `raw` the versions of the days from one place in their order to another. */
  async #view(orgId: string, days: readonly DaySource[], from: number, to?: number): Promise<void> {
    const paths = days.flatMap(({ resource, day, files }) => {
      const folder = rawFolder(this.#lake.dataFolder, this.orgId, resource, day)
      return files.slice(from, to).map((file) => join(folder, file))
    })
    const view = fill(RAW, { org_id: orgId, files: listLiteral(paths) })
    await this.#database.run(paths.length === 0 ? RAW_EMPTY : view)
  }
}
