import { hash } from 'node:crypto'
import { z } from 'zod'
import { fieldOf, type Served } from '../../client/index.ts'
import { versionPath } from '../../lake/layout.ts'
import { dayShape, intervalKey } from '../../lake/ledger.ts'
import { rowsSql } from '../../lake/merged.ts'
import { readRowsOfVerified, type PageOrigin, type RawRow } from '../../lake/raw-days.ts'
import type { EntityResource } from '../../lake/resources.ts'
import { mapOf, stateFile } from '../../lake/state-file.ts'
import { dayOf, type Day } from '../../lib/days.ts'
import { literal, type Row } from '../../lib/duckdb.ts'
import { AppError, isStop } from '../../lib/errors.ts'
import { fill, statement } from '../../lib/package.ts'
import type { Redaction } from '../../lib/secrets/redaction.ts'
import type { Warn } from '../../lib/world.ts'
import {
  isForbidden,
  platformNow,
  type FetchContext,
  type LandingContext,
  originOf,
} from '../context.ts'
import { landVersions, type Lake } from '../land/raw-writer.ts'
import { contentOf } from '../land/row-lines.ts'

/** Which entity resources a run is to ask for. */
export interface EntitySelection {
  readonly resources: readonly EntityResource[]
  /** Whether the user named the resources: then one that is refused is a failure. */
  readonly areNamed: boolean
  /** Sessions to request even if they are not due. */
  readonly sessions: readonly string[]
  readonly messages: readonly { readonly sessionId: string; readonly messageId: string }[]
  /** Request the whole history again. */
  readonly refetch: boolean
  /**
   * The organisation that owns the hook events; see `organisationOf`. Empty: not set, although
   * there are several.
   */
  readonly organisationOfHookEvents: string | null
  /** The configured name of the organisation; absent if there are several. */
  readonly onlyOrganisation?: string | undefined
  /** The key of redaction markers; null: the key in the data folder. */
  readonly redactionKey?: string | null
}

/** What entities are landed with, with or without the network. */
export interface EntityLandingContext extends LandingContext {
  readonly redaction: Redaction
}

/** What every entity resource is fetched with. */
export interface EntityContext extends EntityLandingContext, FetchContext {
  readonly selection: EntitySelection
}

/** The current UTC day at the platform: items fetched now are stored under it. */
export function today(context: LandingContext): Day {
  return dayOf(platformNow(context))
}

/** Returns the key that identifies a row within its day. */
type KeyOf = (row: RawRow) => string

/** The rows that a run received for one resource, before they land under the day of the fetch. */
export class Responses {
  readonly rows: RawRow[] = []
  readonly #context: EntityLandingContext
  readonly #resource: EntityResource
  /** The origin of the last response, even if it had no items. */
  #last: PageOrigin

  constructor(context: EntityLandingContext, resource: EntityResource) {
    this.#context = context
    this.#resource = resource
    this.#last = originOf(context, { request: '', requestId: null })
  }

  /**
   * Adds the items of a response as raw rows with secrets redacted; returns these rows.
   * `isWanted`: says of an item as served whether it is added; default: all are.
   */
  add(served: Served<unknown>, page = 1, isWanted?: (item: string) => boolean): RawRow[] {
    const origin = originOf(this.#context, served, page)
    const rows = served.items.flatMap(({ text }, ordinal) => {
      if (isWanted?.(text) === false) return []
      return [{ item: this.#context.redaction.item(this.#resource, text), ordinal, origin }]
    })
    for (const row of rows) this.rows.push(row) // not spread: they can be very many
    this.#last = origin
    return rows
  }

  /** Lands a version of today that contains exactly these rows. */
  land(): Promise<void> {
    const context = this.#context
    return landDay(context, this.#resource, today(context), this.rows, this.#last)
  }

  /** Adds rows to today; see `addToDay`. */
  addToDay(keyOf: KeyOf, rows: readonly RawRow[]): Promise<void> {
    const context = this.#context
    return addToDay(context, this.#resource, today(context), rows, keyOf, this.#last)
  }

  /**
   * Awaits requests whose responses are added. If they are stopped, calls `land` for what was received,
   * because the platform may remove it before the next run, which may be stopped at the same place.
   *
   * @throws the error of the requests.
   */
  async received(requests: Promise<unknown>, land: () => Promise<void>): Promise<void> {
    try {
      await requests
    } catch (error) {
      if (isStop(error) && !isForbidden(error) && this.rows.length > 0) await land()
      throw error
    }
  }

  /** The rows sorted by request, so that the order of concurrent responses does not matter. */
  inOrderOfRequests(): RawRow[] {
    return this.rows.toSorted((a, b) => (a.origin.request < b.origin.request ? -1 : 1))
  }
}

/** The path of the request that returned the row, without the query string. */
export function pathOf({ origin }: RawRow): string {
  return new URL(origin.request, 'http://platform').pathname
}

/** Identifies a row by a field, or by its whole text if it lacks that field. */
export function keyIn(field: string): (row: Pick<RawRow, 'item'>) => string {
  return ({ item }) => {
    const key = fieldOf(JSON.parse(item), field)
    const isKey = typeof key === 'number' || (typeof key === 'string' && key !== '')
    return isKey ? String(key) : item
  }
}

/**
 * Adds rows to a day by landing a new version of it. A new row replaces the row with the same
 * key; all other rows are kept. If nothing changes, no version is written.
 *
 * @param last the origin of the last response, even if it had no items.
 */
export async function addToDay(
  context: LandingContext,
  resource: EntityResource,
  day: Day,
  rows: readonly RawRow[],
  keyOf: KeyOf,
  last: PageOrigin,
): Promise<void> {
  const merged = new Map((await rowsOfDay(context, resource, day)).map((row) => [keyOf(row), row]))
  for (const row of rows) {
    const key = keyOf(row)
    if (merged.get(key)?.item !== row.item) merged.set(key, row)
  }
  await landDay(context, resource, day, [...merged.values()], last)
}

async function landDay(
  context: LandingContext,
  resource: EntityResource,
  day: Day,
  rows: readonly RawRow[],
  last: PageOrigin,
): Promise<void> {
  const landed = await landVersions(context, resource, [{ day, content: contentOf(rows, last) }])
  await context.recorder.landed(resource, landed)
}

async function rowsOfDay(
  { dataFolder, orgId, ledger, database }: LandingContext,
  resource: string,
  day: Day,
): Promise<readonly RawRow[]> {
  const file = ledger.get(intervalKey(resource, day))?.file ?? null
  if (file === null) return []
  const path = versionPath(dataFolder, orgId, { resource, day, file })
  const rows = await database.use((connection) => readRowsOfVerified(connection, path))
  if (rows !== null) return rows
  throw new AppError(`${path} cannot be read, and nothing can be added to its day`, {
    hint: 'agent-warehouse rebuild verifies every file and moves damaged ones to quarantine.',
  })
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
export async function knownItems(lake: Lake, resource: EntityResource, key: string) {
  const rows = await askLake(lake, resource, 'known_items', { key: literal(key) })
  const hashes = new Set(rows.map((row) => textIn(row, 'hash')))
  const keys = new Set(rows.map((row) => textIn(row, 'key')))
  return {
    /** Whether exactly this item landed last of those with its key. */
    has: ({ item }: Pick<RawRow, 'item'>): boolean => hashes.has(hash('sha256', item)),
    /** Whether an item with this key has landed, even with other content. */
    hasKey: (key: string): boolean => keys.has(key),
  }
}

/**
 * Runs a statement of `sql/lake` over the current version of every day of a resource; the
 * caller verifies the files. Returns no rows if nothing has landed.
 */
export async function askLake(
  { dataFolder, orgId, ledger, database }: Lake,
  resource: EntityResource,
  name: string,
  values: Readonly<Record<string, string>> = {},
): Promise<readonly Row[]> {
  const files = [...ledger.values()].flatMap(({ resource: of, day, file }) => {
    if (of !== resource || file === null) return []
    return [versionPath(dataFolder, orgId, { resource, day, file })]
  })
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
export async function landedBefore(lake: Lake, warn?: Warn): Promise<LandedDays> {
  return (await daysFile.read(lake.dataFolder, lake.orgId, warn)) ?? new Map()
}

/** Days that went missing since then, in order; undefined if it was never completely fetched. */
export function missingDays(
  lake: Lake,
  before: LandedDays,
  resource: EntityResource,
): readonly Day[] | undefined {
  const landed = new Set(landedDays(lake, resource))
  const missing = before.get(resource)?.filter((day) => !landed.has(day))
  return missing?.sort()
}

/** Saves which days have landed of the completely fetched resources. */
export async function saveLandedDays(
  lake: Lake,
  before: LandedDays,
  fetched: readonly EntityResource[],
): Promise<void> {
  const now = fetched.map((resource) => [resource, landedDays(lake, resource)] as const)
  await daysFile.write(lake.dataFolder, lake.orgId, new Map([...before, ...now]))
}

function landedDays({ ledger }: Lake, resource: EntityResource): Day[] {
  return [...ledger.values()]
    .filter((interval) => interval.resource === resource && interval.file !== null)
    .map(({ day }) => day)
    .sort()
}
