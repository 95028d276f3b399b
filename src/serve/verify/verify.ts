import { join } from 'node:path'
import { addDays, dayOf, eachDay, HISTORY_START, type Day, type DayRange } from '../../lib/days.ts'
import { UsageError } from '../../lib/errors.ts'
import { listLiteral, literal, type Database } from '../../lib/duckdb.ts'
import { baseGlob, warehousePath } from '../../lake/layout.ts'
import { knownOrganisations, LedgerFile } from '../../lake/ledger.ts'
import { ENTITIES, RESOURCES } from '../../lake/resources.ts'
import { readOrganisations } from '../../lake/organisations.ts'
import { statement, fill } from '../../lib/package.ts'
import { compareFacts, publishedIntervals, type Comparison, type FactTable } from './compare.ts'
import { verifyFiles, type FilesVerification, notStored, type NotStored } from './evidence.ts'
import { sampleDays, scopeOf, type LeftOut, type Scope } from './sample.ts'

/** Which days of history are to be verified. */
export interface SampleChoice {
  /** How many, the last one among them. Absent: all. */
  readonly count?: number
  /** Of these days only. */
  readonly within?: Partial<DayRange>
}

export interface Sample {
  /** How many days there were to choose from. */
  readonly history: number
  readonly days: readonly Day[]
  /** What the warehouse has: by organisation, keys `resource/day`. */
  readonly published: ReadonlyMap<string, ReadonlySet<string>>
}

/** What came of comparing the published warehouse with the platform. */
export interface Verification extends Comparison {
  readonly history: number
  readonly sampled: readonly Day[]
  /** Those of the sampled days that were compared, of one organisation at least. */
  readonly days: readonly Day[]
  /** What could not be compared. */
  readonly leftOut: readonly LeftOut[]
  readonly files: FilesVerification
  /** Numbers that were served and that no warehouse can hold: NULL or rounded in it, and reported. */
  readonly notStored: readonly NotStored[]
}

/** True when nothing that was compared differs, and every file is what it was. */
export function isEqual({ differences, files }: Verification): boolean {
  return differences.length === 0 && files.damaged.length === 0
}

/**
 * Chooses days up to yesterday, by the platform's clock as it was last seen.
 * `now` in milliseconds since the epoch, `random` gives numbers in [0, 1).
 *
 * @throws UsageError when nothing is published, and when there is no such day.
 */
export async function chooseSample(
  dataFolder: string,
  choice: SampleChoice,
  { now, random }: { readonly now: () => number; readonly random: () => number },
): Promise<Sample> {
  const published = await publishedIntervals(warehousePath(dataFolder))
  const [known] = (await readOrganisations(dataFolder)).values()
  const { first = HISTORY_START, last } = choice.within ?? {}
  const yesterday = addDays(dayOf(now() + (known?.skewMs ?? 0)), -1)
  const history = eachDay({
    first: first > HISTORY_START ? first : HISTORY_START,
    last: last !== undefined && last < yesterday ? last : yesterday,
  })
  if (history.length === 0) {
    throw new UsageError(`there is no day to verify: history is ${HISTORY_START} to ${yesterday}`, {
      hint: 'Choose other days with --from and --to.',
    })
  }
  const days = sampleDays(history, choice.count ?? history.length, random)
  return { history: history.length, days, published }
}

export interface VerifyOptions {
  readonly dataFolder: string
  /** The data folder in which the sampled days were landed and normalized again. */
  readonly scratch: string
  readonly sample: Sample
  /** Makes the fact tables in the database in use from the sources. */
  readonly makeFacts: (
    database: Database,
    sourceSql: (source: string, table: string) => string,
  ) => Promise<readonly FactTable[]>
}

/**
 * Compares the published facts of the sampled days with what the models make
 * of the base in which those days are replaced by the fresh ones.
 */
export async function verifyWarehouse(options: VerifyOptions): Promise<Verification> {
  const { dataFolder, scratch, sample } = options
  const resources = RESOURCES.map(({ name }) => name)
  const scopes: Scope[] = []
  for (const orgId of await knownOrganisations(scratch)) {
    const published = sample.published.get(orgId) ?? new Set()
    const fresh = await LedgerFile.read(scratch, orgId)
    scopes.push(scopeOf({ orgId, days: sample.days, resources, published, fresh }))
  }
  const intervals = scopes.flatMap((scope) => scope.intervals)
  const files = await verifyFiles(dataFolder, await knownOrganisations(dataFolder), sample.days)
  const comparison =
    intervals.length === 0
      ? { tables: 0, rows: 0, values: 0, differences: [] }
      : await compareFacts({
          warehouse: warehousePath(dataFolder),
          intervals,
          makeFacts: (database) =>
            options.makeFacts(database, (_, table) => sourceSql(options, table)),
          tempDirectory: join(scratch, 'spill'),
        })
  const days = [...new Set(intervals.map(({ day }) => day))].sort()
  return {
    ...comparison,
    history: sample.history,
    sampled: sample.days,
    days,
    leftOut: scopes.flatMap(({ leftOut }) => leftOut),
    files,
    notStored: await notStored(scratch, days),
  }
}

/** The base, with the sampled days written again. What no resource's day makes stays as it is. */
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
