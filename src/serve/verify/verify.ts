import { join } from 'node:path'
import { addDays, dayOf, eachDay, HISTORY_START, type Day, type DayRange } from '../../lib/days.ts'
import { UsageError } from '../../lib/errors.ts'
import { listLiteral, literal, type Database } from '../../lib/duckdb.ts'
import { baseGlob, warehousePath } from '../../lake/layout.ts'
import { intervalKey, knownOrganisations, LedgerFile, type Ledger } from '../../lake/ledger.ts'
import { ENTITIES, isAnalytics, RESOURCES } from '../../lake/resources.ts'
import { readOrganisations } from '../../lake/organisations.ts'
import { statement, fill } from '../../lib/package.ts'
import {
  compareFacts,
  notStored,
  verifyFiles,
  publishedIntervals,
  type DamageOf,
  type FactTable,
  type ScopedInterval,
} from './compare.ts'

/** Which days of history are verified, and of which organisations. */
export interface SampleChoice {
  /** How many days, including the last one. Absent: all. */
  readonly count?: number
  readonly within?: Partial<DayRange>
  /** Their names in the configuration. Absent: all. */
  readonly organisations?: readonly string[] | undefined
}

type Sample = Readonly<Awaited<ReturnType<typeof chooseSample>>>

/** The result of comparing the published warehouse with the platform. */
export type Verification = Readonly<Awaited<ReturnType<typeof verifyWarehouse>>>

/** True if no compared value differs, and every file is intact. */
export function isEqual({ differences, files }: Verification): boolean {
  return differences.length === 0 && files.damaged.length === 0
}

/**
 * Chooses days up to yesterday, by the platform's clock as last seen, where that is latest; a
 * sample is one of days that the warehouse has.
 * `now` in milliseconds since the epoch, `random` returns numbers in [0, 1).
 *
 * @throws UsageError if nothing is published, and if there is no such day.
 */
export async function chooseSample(
  dataFolder: string,
  choice: SampleChoice,
  { now, random }: { readonly now: () => number; readonly random: () => number },
) {
  const { organisations, within = {} } = choice
  const all = await publishedIntervals(warehousePath(dataFolder))
  const known = await readOrganisations(dataFolder)
  const selected = organisations?.flatMap((name) => known.get(name) ?? [])
  const named = selected?.map(({ orgId }) => orgId)
  const published = new Map([...all].filter(([orgId]) => named?.includes(orgId) ?? true))
  const orgIds = named ?? (await knownOrganisations(dataFolder))
  const skews = (selected ?? [...known.values()]).map(({ skewMs }) => skewMs)
  const yesterday = addDays(dayOf(now() + (skews.length === 0 ? 0 : Math.max(...skews))), -1)
  const { first = HISTORY_START, last } = within
  const history = eachDay({
    first: first > HISTORY_START ? first : HISTORY_START,
    last: last !== undefined && last < yesterday ? last : yesterday,
  })
  if (history.length === 0) {
    const problem = `the history goes from ${HISTORY_START} to ${yesterday}`
    throw new UsageError(`there is no day to verify: ${problem}`, {
      hint: 'Choose other days with --from and --to.',
    })
  }
  const days = daysOf(history, published, choice, random)
  return {
    history: history.length,
    days,
    /** The intervals in the warehouse: keys `resource/day`, by organisation. */
    published,
    /** The organisations whose raw files are verified. */
    orgIds,
  }
}

/** All days, or a sample of those that the warehouse has, if it has any. */
function daysOf(
  history: readonly Day[],
  published: ReadonlyMap<string, ReadonlySet<string>>,
  { count }: SampleChoice,
  random: () => number,
): readonly Day[] {
  if (count === undefined) return history
  const intervals = [...published.values()].flatMap((own) => [...own].map((key) => key.split('/')))
  const known = new Set(intervals.map(([name = '', day]) => (isAnalytics(name) ? day : undefined)))
  const inWarehouse = history.filter((day) => known.has(day))
  return sampleDays(inWarehouse.length === 0 ? history : inWarehouse, count, random)
}

/**
 * A sample of the days, in order: always the last one, and others at random with equal
 * probability. `random` returns numbers in [0, 1).
 */
export function sampleDays(days: readonly Day[], count: number, random: () => number): Day[] {
  const last = days.at(-1)
  if (last === undefined || count < 1) return []
  const others = days.slice(0, -1)
  const chosen = [last]
  while (chosen.length < count && others.length > 0) {
    chosen.push(...others.splice(Math.floor(random() * others.length), 1))
  }
  return chosen.sort()
}

interface VerifyOptions {
  readonly dataFolder: string
  /** The data folder in which the sampled days were landed and normalized again. */
  readonly scratch: string
  readonly sample: Sample
  readonly damageOf: DamageOf
  /** When it aborts, the comparison ends with an error. */
  readonly signal: AbortSignal
  readonly makeFacts: (
    database: Database,
    sourceSql: (source: string, table: string) => string,
  ) => Promise<readonly FactTable[]>
}

/**
 * Compares the published facts of the sampled days with the models built on base in
 * which those days are replaced by the fresh ones.
 */
export async function verifyWarehouse(options: VerifyOptions) {
  const { dataFolder, scratch, sample, damageOf, signal } = options
  const resources = RESOURCES.map(({ name }) => name)
  const scopes = []
  for (const orgId of await knownOrganisations(scratch)) {
    const published = sample.published.get(orgId) ?? new Set()
    const fresh = await LedgerFile.read(scratch, orgId)
    scopes.push(scopeOf({ orgId, days: sample.days, resources, published, fresh }))
  }
  const intervals = scopes.flatMap((scope) => scope.intervals)
  const files = await verifyFiles(dataFolder, sample.orgIds, sample.days, damageOf, signal)
  const comparison =
    intervals.length === 0
      ? { tables: 0, rows: 0, values: 0, differences: [] }
      : await compareFacts({
          warehouse: warehousePath(dataFolder),
          intervals,
          makeFacts: (database) =>
            options.makeFacts(database, (_, table) => sourceSql(options, table)),
          tempDirectory: join(scratch, 'spill'),
          signal,
        })
  const days = [...new Set(intervals.map(({ day }) => day))].sort()
  return {
    ...comparison,
    history: sample.history,
    sampled: sample.days,
    /** The sampled days that were compared for at least one organisation. */
    days,
    /** Intervals that could not be compared. */
    leftOut: scopes.flatMap(({ leftOut }) => leftOut),
    files,
    /** Served numbers that the warehouse cannot store; it has NULL or a rounded value. */
    notStored: await notStored(scratch, days),
  }
}

interface ScopeOptions {
  readonly orgId: string
  readonly days: readonly Day[]
  readonly resources: readonly string[]
  /** The organisation's intervals in the published warehouse, by `intervalKey`. */
  readonly published: ReadonlySet<string>
  /** The intervals that were fetched again. */
  readonly fresh: Ledger
}

/** A resource's day that is not compared, and why. */
export interface LeftOut extends Omit<ScopedInterval, 'isLanded'> {
  /** `absent`: the warehouse does not have it; `unanswered`: the platform did not give it. */
  readonly why: 'absent' | 'unanswered'
  /** The platform's refusal; null if there was none. */
  readonly error: string | null
}

/**
 * Every resource of the days of one organisation that can be compared: those for which the platform
 * answered for every resource in the warehouse, so that every table of a compared day is
 * verified.
 */
export function scopeOf({ orgId, days, resources, published, fresh }: ScopeOptions) {
  const intervals: ScopedInterval[] = []
  const leftOut: LeftOut[] = []
  for (const day of days) {
    const all = resources.map((resource) => {
      const isLanded = published.has(intervalKey(resource, day))
      return { orgId, resource, day, isLanded }
    })
    const others = all.flatMap(({ resource, isLanded }): LeftOut[] => {
      if (!isLanded) return [{ orgId, resource, day, why: 'absent', error: null }]
      const fetched = fresh.get(intervalKey(resource, day))
      if (fetched?.file != null) return []
      return [{ orgId, resource, day, why: 'unanswered', error: fetched?.error ?? null }]
    })
    const isVerified = others.every(({ why }) => why === 'absent')
    if (isVerified && all.some(({ isLanded }) => isLanded)) intervals.push(...all)
    leftOut.push(...others)
  }
  return { intervals, leftOut }
}

/** Base with the sampled days replaced. Tables that are not made from days of a resource stay. */
function sourceSql({ dataFolder, scratch }: VerifyOptions, table: string): string {
  const resource = ENTITIES.get(table)
  const current = listLiteral([baseGlob(dataFolder, table)])
  if (resource === undefined) return `read_parquet(${current}, hive_partitioning = false)`
  return fill(statement('verify/source'), {
    current,
    fresh: listLiteral([baseGlob(scratch, table)]),
    resource: literal(resource),
  })
}
