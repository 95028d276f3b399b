import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { mapLimit } from '../lib/concurrency.ts'
import { monthOf } from '../lib/days.ts'
import type { Database } from '../lib/duckdb.ts'
import { grouped, packed } from '../lib/grouped.ts'
import { statement } from '../lib/package.ts'
import type { World } from '../lib/world.ts'
import { baseFile, type RawFile, rawFolder } from '../lake/layout.ts'
import type { Interval, Ledger } from '../lake/ledger.ts'
import { bytesOfVersion } from '../lake/merged.ts'
import type { DayBatch, DaySource } from './batch.ts'
import { isIntact, type BaseFiles } from './state.ts'

export interface NormalizeOptions {
  /** The data folder whose raw is read. */
  readonly dataFolder: string
  /** The folder whose `lake/base` is written: the data folder, or the one of a point in time. */
  readonly baseIn: string
  readonly orgId: string
  readonly ledger: Ledger
  /** `YYYY-MM` of which every entity gets a file, even without days. Absent: none. */
  readonly firstMonth?: string
  readonly emit: World['emit']
  /**
   * Verifies raw files before they are read, and may move damaged ones to quarantine. Returns those
   * that are no longer in the lake; null if damaged ones stay in it: then nothing is written.
   */
  readonly findDamaged: (files: readonly RawFile[]) => Promise<readonly RawFile[] | null>
  /** Only entities made from analytics, and only in these months. Absent: all. */
  readonly onlyMonths?: ReadonlySet<string>
  /** When it aborts, months that have not begun stay due. */
  readonly signal?: AbortSignal
}

/** A table of base. It is written by month, and a row is made from its own day alone. */
export interface BaseEntity {
  /** Names its folder in the lake. */
  readonly name: string
  /** The resource that it is made from; null: every one, which its column `resource` names. */
  readonly resource: string | null
  /** Names its statement in errors. */
  readonly errorLabel: string
  /** Digest of the statements that make its rows: a change makes every day due. */
  readonly statementsDigest: () => string
  /** The days that it has. */
  readonly sources: (options: NormalizeOptions) => readonly DaySource[]
  /**
   * Changes `parsed` as the select needs it, in the order of `BASE_ENTITIES`, and returns the select
   * of the rows of the batch, which may include days that are not due.
   */
  readonly prepareAndSelect: (batch: DayBatch) => Promise<string>
}

/** The current days of intervals. */
export function currentDays(
  { orgId, ledger }: NormalizeOptions,
  isWanted: (interval: Interval) => boolean,
): DaySource[] {
  return [...ledger.values()].filter(isWanted).flatMap(({ resource, day, file }) => {
    return file === null ? [] : [{ orgId, resource, day, files: [file] }]
  })
}

/**
 * A base file that is written as a whole. A `MonthTask` adds where its days come from: copied, or
 * read. A `MonthPart` has days of one resource that are read once for several of these tasks, and a
 * `MonthGroup` the parts that one statement reads. A task is written once all its parts are read.
 */
export interface BaseTask {
  /** Those of its organisation. */
  readonly options: NormalizeOptions
  readonly entity: BaseEntity
  /** `YYYY-MM`. */
  readonly month: string
  readonly days: readonly DaySource[]
  /** Digest of the statements and versions: equal fingerprints mean equal files. */
  readonly fingerprint: string
}

export function baseKey(task: Pick<BaseTask, 'entity' | 'month'>): string {
  return `${task.entity.name}/${task.month}`
}

/**
 * The base files of an entity whose versions or statements changed since they were written. Files
 * of months without any version left are due too.
 */
export function planBase(
  options: NormalizeOptions,
  entity: BaseEntity,
  present: BaseFiles,
): BaseTask[] {
  const { firstMonth } = options
  const written = [...present.keys()].map((key) => key.split('/'))
  const own = written.flatMap(([name, month = '']) => (name === entity.name ? [month] : []))
  const sources = grouped(entity.sources(options), ({ day }) => monthOf(day))
  const months = new Set([firstMonth ?? [], own, [...sources.keys()]].flat())
  const statements = entity.statementsDigest()
  return [...months].sort().flatMap((month) => {
    const days = (sources.get(month) ?? []).sort((a, b) => (dayKey(a) < dayKey(b) ? -1 : 1))
    const versions = days.map((day) => `${dayKey(day)}/${versionsOf(day)}`)
    const task = { options, entity, month, days, fingerprint: digestOf([statements, ...versions]) }
    return present.get(baseKey(task))?.fingerprint === task.fingerprint ? [] : [task]
  })
}

/** Identifies a day among those of all resources of an organisation. */
export function dayKey({ resource, day }: Pick<DaySource, 'resource' | 'day'>): string {
  return `${resource}/${day}`
}

/** Identifies the versions of a day. */
export function versionsOf({ files }: DaySource): string {
  return files.join(' ')
}

const COMMENT_LINES = /^\s*--.*\n/gm

/** Digest of statements, which are read on first use. Lines of comments do not count. */
export function digestOfStatements(statements: () => readonly string[]): () => string {
  let digest: string | undefined
  return () => (digest ??= digestOf(statements().map((sql) => sql.replaceAll(COMMENT_LINES, ''))))
}

export function digestOf(texts: readonly string[]): string {
  return hash('sha256', texts.map((text) => `${text}\n`).join(''))
}

/** A base file to write, and its sources. */
export interface MonthTask extends BaseTask {
  /** The base files of its organisation, to which the written one is added. */
  readonly base: BaseFiles
  /** Days to copy from the existing file. */
  readonly reused: readonly DaySource[]
  /** All other days. */
  readonly due: readonly DaySource[]
  /** The due rows, by the part that has them; null until it is read. Empty once they are written. */
  readonly parts: Map<string, EntityRows | null>
}

/** The rows of an entity from a group. */
export interface EntityRows {
  /** The Parquet file with them; null if they are in the table of the entity. */
  readonly file: string | null
  /** The number of tasks that still need them: after the last one, they are removed. */
  readers: number
}

/**
 * Decides which days of a base month to make. Days with the same versions as in the existing
 * file are copied from it if it is verified as intact: a row is made from its own day alone.
 */
export async function monthTask(
  database: Database,
  task: BaseTask,
  base: BaseFiles,
): Promise<MonthTask> {
  const { entity, month, days, options } = task
  const { baseIn, orgId } = options
  const path = baseFile(baseIn, orgId, entity.name, month)
  const versions = isIntact(base.get(baseKey(task)))
    ? await writtenVersions(database, path, entity)
    : new Map<string, string>()
  const isAsWritten = (day: DaySource): boolean => versions.get(dayKey(day)) === versionsOf(day)
  return {
    ...task,
    base,
    reused: days.filter(isAsWritten),
    due: days.filter((day) => !isAsWritten(day)),
    parts: new Map<string, EntityRows | null>(),
  }
}

const versionsShape = z.record(z.string(), z.string())

/** The versions that the existing file was made from, by day; none if the statements changed. */
async function writtenVersions(
  database: Database,
  path: string,
  entity: BaseEntity,
): Promise<ReadonlyMap<string, string>> {
  const [metadata] = await database.rows(statement('base/steps/month_versions'), { file: path })
  const versions = metadata?.['versions']
  if (metadata?.['made_by'] !== entity.statementsDigest() || typeof versions !== 'string') {
    return new Map()
  }
  return new Map(Object.entries(versionsShape.parse(JSON.parse(versions))))
}

/** A month of a resource and an organisation, for all entities that are made from it. */
interface ResourceMonth {
  readonly orgId: string
  readonly resource: string
  /** `YYYY-MM`. */
  readonly month: string
  readonly tasks: readonly MonthTask[]
}

/** Some days of a month; only a large month has several parts. */
interface MonthPart extends ResourceMonth {
  /** Names it among the parts of a task. */
  readonly part: string
  /** The days to read, each once, in order. */
  readonly days: readonly DaySource[]
  readonly bytes: number
}

/**
 * Months of one resource that are made by the same statements: as many as fit into one read, or a
 * single larger day. Small organisations share them.
 */
export type MonthGroup = readonly MonthPart[]

export async function groupsOf(
  dataFolder: string,
  tasks: readonly MonthTask[],
): Promise<MonthGroup[]> {
  const months = new Map<string, ResourceMonth & { tasks: MonthTask[] }>()
  for (const task of tasks) {
    const { month, entity, options, due } = task
    const { orgId } = options
    // a file without due days reads one resource, because its rows define the columns
    const read = due.length === 0 ? [entity.resource ?? ''] : due.map(({ resource }) => resource)
    for (const resource of new Set(read)) {
      const key = `${resource} ${orgId} ${month}`
      const own = months.get(key) ?? { orgId, resource, month, tasks: [] }
      months.set(key, own)
      own.tasks.push(task)
    }
  }
  const inOrder = [...months].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, month]) => month)
  const parts = await mapLimit(inOrder, MONTHS_AT_ONCE, async (month) =>
    partsOf(month, await sizedDays(dataFolder, month)),
  )
  const monthKey = ({ resource, orgId }: ResourceMonth): string => `${resource}/${orgId}`
  const restated = parts.flat().filter(({ days }) => days.some(isRestated))
  const alone = new Set(restated.map(monthKey))
  const together = grouped(parts.flat(), (part) =>
    alone.has(monthKey(part)) ? monthKey(part) : part.resource,
  )
  return [...together.values()].flatMap((parts) => packed(parts, LIMITS.rawBytes))
}

/** Registers the parts with the tasks, whose files are complete once all have been read. */
function partsOf(
  month: ResourceMonth,
  days: readonly (DaySource & { readonly bytes: number })[],
): MonthPart[] {
  const packs = days.length === 0 ? [[]] : packed(days, LIMITS.rawBytes)
  return packs.map((pack, at) => {
    const part = `${month.resource} ${String(at).padStart(2, '0')}`
    for (const { parts } of month.tasks) parts.set(part, null)
    return { ...month, part, days: pack, bytes: pack.reduce((sum, { bytes }) => sum + bytes, 0) }
  })
}

/**
 * A restated day is compared with its earlier versions. They are read with their file names in
 * column `org_id`, so days of other organisations cannot be read with it.
 */
export function isRestated({ files }: Pick<DaySource, 'files'>): boolean {
  return files.length > 1
}

const MONTHS_AT_ONCE = 4

/** The due days of a resource, each with all versions that a task reads, and their size. */
async function sizedDays(dataFolder: string, { orgId, resource, tasks }: ResourceMonth) {
  const days = new Map<string, DaySource>()
  for (const source of tasks.flatMap(({ due }) => due)) {
    const known = days.get(source.day)?.files.length ?? 0
    if (source.resource === resource && source.files.length > known) days.set(source.day, source)
  }
  const inOrder = [...days.values()].sort((a, b) => (dayKey(a) < dayKey(b) ? -1 : 1))
  return mapLimit(inOrder, DAYS_AT_ONCE, async (source) => {
    const folder = rawFolder(dataFolder, orgId, resource, source.day)
    const sizes = source.files.map((file) => {
      return bytesOfVersion(join(folder, file)).catch(() => 0) // its reader reports it
    })
    return { ...source, bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) }
  })
}

const DAYS_AT_ONCE = 31

export const LIMITS = {
  /** Bytes of raw Parquet per read: some 6,000 user days, and ten times as much in memory. */
  rawBytes: 1_000_000,
}
