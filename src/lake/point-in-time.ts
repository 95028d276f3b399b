import { join } from 'node:path'
import { z } from 'zod'
import { Database } from '../lib/duckdb.ts'
import { rawFolder, versionTime, pastFolder, quarantineFolder } from './layout.ts'
import { knownDays, versionsIn, versionsUpTo, type RawDay } from './raw-days.ts'
import { intervalKey, LedgerFile, readJournal, type Interval, type Ledger } from './ledger.ts'
import { rowsSql, metadataSql } from './merged.ts'
import { isOfUsers } from './resources.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'
import { addDays, dayOf, earliest, type Day } from '../lib/days.ts'
import { UsageError } from '../lib/errors.ts'
import { entityRows, intervalRows, knownRange, type IntervalRow } from './intervals.ts'

/**
 * The ledger as of `at` (milliseconds since the epoch, by the platform's clock): each day with
 * the version that was current then, whatever happened to later ones. Days that landed later are
 * left out, and so are those whose version is no longer in the lake: no earlier one takes its
 * place. It lacks what the lake does not record: failures, and later rechecks that found nothing
 * new.
 */
export async function ledgerAsOf(dataFolder: string, orgId: string, at: number): Promise<Ledger> {
  const ledger = new Map<string, Interval>()
  /** Intervals that are not on record as they were then, by the path of their version. */
  const past = new Map<string, Interval>()
  for (const { resource, day, versions: all, current, lost } of await landedDays(
    dataFolder,
    orgId,
  )) {
    const then = all.filter((name) => versionTime(name) <= at)
    const isCurrent = (current?.fetchedAt ?? Infinity) <= at
    const file = isCurrent ? current?.file : then.at(-1)
    if (file == null || lost.has(file)) continue
    const key = intervalKey(resource, day)
    const versions = then.filter((name) => !lost.has(name)).length
    const recorded = current?.file === file ? current : undefined
    if (recorded !== undefined && (recorded.fetchedAt ?? Infinity) <= at) {
      ledger.set(key, { ...recorded, versions, error: null })
      continue
    }
    const { sha256 = null, digest = null } = recorded ?? {}
    const known = { resource, day, file, sha256, digest, fetchedAt: versionTime(file), error: null }
    const counts = { rowCount: 0, versions, attempts: versions, requestId: null }
    const empty: Interval = { ...known, ...counts, status: 'empty' }
    ledger.set(key, empty)
    past.set(join(rawFolder(dataFolder, orgId, resource, day), file), empty)
  }
  for (const { file: path, request_id: requestId, row_count, users } of await factsOf(past)) {
    const interval = past.get(path)
    if (interval === undefined) continue
    const { resource, day } = interval
    const status = row_count === 0 ? 'empty' : 'landed'
    const rowCount = isOfUsers(resource) ? users : row_count
    ledger.set(intervalKey(resource, day), { ...interval, status, rowCount, requestId })
  }
  return ledger
}

/** When the first day landed, milliseconds since the epoch; undefined if none landed. */
export async function firstLanding(
  dataFolder: string,
  orgIds: readonly string[],
): Promise<number | undefined> {
  let first: number | undefined
  for (const orgId of orgIds) {
    for (const { versions, lost } of await landedDays(dataFolder, orgId)) {
      const oldest = versions.find((file) => !lost.has(file))
      if (oldest !== undefined) first = Math.min(first ?? Infinity, versionTime(oldest))
    }
  }
  return first
}

/** A day that landed at least once. */
interface LandedDay extends RawDay {
  /** Undefined while the day is missing. */
  readonly current: Interval | undefined
  /**
   * Versions that are not in the lake, because they were damaged or are gone. The current one does not
   * count: it is verified when it is read.
   */
  readonly lost: ReadonlySet<string>
}

/** The days that landed, with their versions up to the last current one, and later ones that are gone. */
async function landedDays(dataFolder: string, orgId: string): Promise<LandedDay[]> {
  const journal = await readJournal(dataFolder, orgId)
  return (await knownDays(journal)).flatMap((known) => {
    const { resource, day, versions: inLake } = known
    const key = intervalKey(resource, day)
    const current = journal.intervals.get(key)
    const failed = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    const last = current?.file ?? journal.forgotten.get(key)?.file ?? failed.at(-1)
    if (last === undefined) return []
    const landed = journal.landed.get(key) ?? []
    const all = new Set([...inLake, ...failed, ...landed])
    // a later version may be gone, and the rows before it served again
    const gone = landed.filter((file) => file > last && !inLake.includes(file))
    const versions = [...versionsUpTo([...all].sort(), last), ...gone.sort()]
    const isLost = (file: string): boolean => file !== current?.file && !inLake.includes(file)
    return [{ resource, day, versions, current, lost: new Set(versions.filter(isLost)) }]
  })
}

const facts = z.object({
  file: z.string(),
  request_id: z.string().nullable(),
  row_count: z.coerce.number(),
  users: z.coerce.number(),
})

async function factsOf(past: ReadonlyMap<string, Interval>) {
  if (past.size === 0) return []
  await using database = await Database.open(':memory:', processLimits().verification)
  const paths = [...past.keys()]
  const values = { rows: rowsSql(paths), metadata: metadataSql(paths) }
  return z.array(facts).parse(await database.rows(fill(statement('lake/version_facts'), values)))
}

/** The source of a build: all that has landed, or the state at a point in time. */
export interface PointInTime {
  /** The folder that contains its base, laid out as a data folder. */
  readonly baseIn: string
  /** Milliseconds since the epoch; null: all that has landed. */
  readonly asOf: number | null
  readonly ledgerOf: (orgId: string) => Promise<Ledger>
}

export function latestData(dataFolder: string): PointInTime {
  const ledgerOf = (orgId: string) => LedgerFile.read(dataFolder, orgId)
  return { baseIn: dataFolder, asOf: null, ledgerOf }
}

/**
 * Opens the state at `asOf`.
 *
 * @throws UsageError if nothing had landed by then.
 */
export async function dataAsOf(
  dataFolder: string,
  orgIds: readonly string[],
  asOf: number,
): Promise<PointInTime> {
  const first = await firstLanding(dataFolder, orgIds)
  if (first === undefined || first > asOf) {
    const when = first === undefined ? 'never' : `at ${new Date(first).toISOString()}`
    throw new UsageError(`--as-of: nothing had landed by ${new Date(asOf).toISOString()}`, {
      hint: `The first day landed ${when}: give that time or a later one.`,
    })
  }
  const ledgerOf = (orgId: string) => ledgerAsOf(dataFolder, orgId, asOf)
  return { baseIn: pastFolder(dataFolder), asOf, ledgerOf }
}

/**
 * Reads the intervals of every day, some organisations at a time; `planned` returns the last
 * analytics day that a run planned.
 */
export async function* intervalsOf(
  { asOf, ledgerOf }: PointInTime,
  orgIds: readonly string[],
  planned: (orgId: string) => Day | undefined,
): AsyncGenerator<readonly IntervalRow[]> {
  let rows: IntervalRow[] = []
  for (const orgId of orgIds) {
    const ledger = await ledgerOf(orgId)
    const last = planned(orgId)
    const range = knownRange(
      ledger,
      asOf === null ? last : earliest(addDays(dayOf(asOf), -1), last),
    )
    const own = [...intervalRows(orgId, ledger, range), ...entityRows(orgId, ledger)]
    // how often a day had been requested by that time is not recorded
    for (const row of own) rows.push(asOf === null ? row : { ...row, attempts: null })
    if (rows.length < ROWS_AT_ONCE) continue
    yield rows
    rows = []
  }
  yield rows
}

const ROWS_AT_ONCE = 10_000
