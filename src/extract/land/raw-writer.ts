import { mkdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { allOrThrow } from '../../lib/concurrency.ts'
import { ConnectionPool } from '../../lib/connection-pool.ts'
import type { Day } from '../../lib/days.ts'
import { listLiteral, literal, Database } from '../../lib/duckdb.ts'
import { AppError } from '../../lib/errors.ts'
import {
  makeFolder,
  putInPlace,
  removeFile,
  syncedSums,
  syncFolder,
  temporaryPath,
} from '../../lib/files.ts'
import { packed } from '../../lib/grouped.ts'
import { processLimits } from '../../lib/machine.ts'
import { statement, fill } from '../../lib/package.ts'
import { spillFolder } from '../../lib/spill.ts'
import type { Warn } from '../../lib/world.ts'
import {
  isVersionOf,
  quarantineFolder,
  rawFolder,
  versionName,
  versionPath,
  versionTime,
  bufferPath,
} from '../../lake/layout.ts'
import { intervalKey, type Ledger, isSettled, type Interval } from '../../lake/ledger.ts'
import { sha256AsLanded } from '../../lake/merged.ts'
import { quarantine } from '../../lake/quarantine.ts'
import { versionsIn, readRows } from '../../lake/raw-days.ts'
import type { Resource } from '../../lake/resources.ts'
import { fieldOf } from '../../client/index.ts'
import type { IntervalRecorder, LandedDay, VolumeAnomaly } from './interval-recorder.ts'
import {
  type DayContent,
  writeLines,
  type DayRows,
  type LineFile,
  type ServedDay,
} from './row-lines.ts'
import { damageOfVersion } from './verify-versions.ts'

/** The lake of one organisation, and the database that reads and writes it. */
export interface Lake {
  readonly dataFolder: string
  readonly orgId: string
  /** What its files are verified against. */
  readonly ledger: Ledger
  readonly database: LandingDatabase
}

/** A lake whose damaged files may be moved to quarantine. */
interface WritableLake extends Lake {
  readonly warn: Warn
}

/** A lake whose ledger records what lands. */
export interface RecordedLake extends WritableLake {
  readonly recorder: IntervalRecorder
}

/**
 * Lands served days as versions. If a settled day came back much smaller, its version stays, and
 * the new rows wait until they are served a second time.
 *
 * @returns the days to record, without those that wait: these are recorded already.
 */
export async function landDays<T extends ServedDay>(
  context: RecordedLake,
  resource: Resource,
  served: readonly T[],
): Promise<(T & LandedDay)[]> {
  const { recorder } = context
  const accepted: T[] = []
  const confirmed: VolumeAnomaly[] = []
  for (const each of served) {
    const anomaly = await anomalyOf(context, resource, each)
    if (anomaly !== null && !recorder.isConfirmed(anomaly)) await recorder.pending(anomaly)
    else {
      accepted.push(each)
      if (anomaly !== null) confirmed.push(anomaly)
    }
  }
  const landed = await landVersions(context, resource.name, accepted)
  for (const anomaly of confirmed) recorder.anomalyFound(anomaly, true)
  return landed
}

/**
 * The volume anomaly that needs confirmation; null if there is none. A changed settled day is one
 * if it became empty or less than half as large.
 */
async function anomalyOf(
  context: RecordedLake,
  resource: Resource,
  { day, content, rowCount = content.count, size = rowCount }: ServedDay,
): Promise<VolumeAnomaly | null> {
  const known = context.recorder.interval(resource.name, day)
  if (known === undefined || !isSettled(known) || known.digest === content.digest) return null
  const sizeBefore = await landedSize(context, resource, known)
  const served = { digest: content.digest, rowCount, seenAt: content.last.fetchedAt }
  const isMuchSmaller = (rowCount === 0 && known.rowCount !== 0) || 2 * size < sizeBefore
  return isMuchSmaller ? { known, served, sizeBefore, size } : null
}

/** The sum of the size field in the lake, else the row count that the ledger has. */
async function landedSize(
  { dataFolder, orgId }: Lake,
  { name, sizeField }: Resource,
  { day, file, rowCount }: Interval,
): Promise<number> {
  const count = rowCount ?? 0
  if (sizeField === undefined || file === null) return count
  const rows = await readRows(versionPath(dataFolder, orgId, { resource: name, day, file }))
  const items = rows?.map(({ item }) => item)
  return items === undefined ? count : sizeOf(sizeField, items)
}

/** Sums a field over the rows of a day (JSON texts). Values that are not numbers count as 0. */
export function sizeOf(sizeField: string, items: readonly string[]): number {
  const values = items.map((item) => Number(fieldOf(JSON.parse(item), sizeField)))
  return values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0)
}

/**
 * Writes the rows of each day as a new version, unless the newest version already holds
 * the same rows.
 */
export async function landVersions<T extends ServedDay>(
  lake: WritableLake,
  resource: string,
  days: readonly T[],
): Promise<(T & LandedDay)[]> {
  const compared = await allOrThrow(
    days.map(async (served) => ({ served, ...(await compare(lake, resource, served)) })),
  )
  const next = compared.flatMap((each) => each.next ?? [])
  const written = await writeDays(lake, resource, next)
  return allOrThrow(
    compared.map(async ({ served, intact, versions }) => {
      const found = intact ?? written.get(served.day)
      if (found === undefined) throw new RangeError(`${served.day} was not written`)
      const sha256 = found.sha256 ?? (await sha256AsLanded(found.path))
      const isNew = intact === undefined
      return { ...served, file: basename(found.path), sha256, versions, isNew }
    }),
  )
}

/** The version with the rows of a served day, and how many versions of the day there are with it. */
interface Compared {
  /** The newest version, if it holds these rows; `sha256`: null if not in the ledger. */
  readonly intact?: { readonly path: string; readonly sha256: string | null }
  /** Otherwise the one to write. */
  readonly next?: NewVersion
  readonly versions: number
}

/**
 * Compares the newest version with the rows served. A damaged one is moved to quarantine; the
 * version before it does not take its place.
 */
async function compare(
  { dataFolder, orgId, ledger, warn }: WritableLake,
  resource: string,
  { day, content }: ServedDay,
): Promise<Compared> {
  const landed = versionsIn(rawFolder(dataFolder, orgId, resource, day))
  const inQuarantine = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
  // also later than those in quarantine, even if a clock was set back
  const times = [...landed, ...inQuarantine].map((name) => versionTime(name) + 1)
  const fetchedAt = Math.max(content.last.fetchedAt, ...times)
  const pathOf = (file: string): string => versionPath(dataFolder, orgId, { resource, day, file })
  const path = pathOf(versionName(fetchedAt, content.digest))
  const next = { day, content, fetchedAt, path }
  const file = landed.at(-1)
  if (file === undefined || !isVersionOf(file, content.digest))
    return { next, versions: landed.length + 1 }
  if ((inQuarantine.at(-1) ?? '') > file) return { next, versions: landed.length + 1 }
  const interval = ledger.get(intervalKey(resource, day))
  // a file unknown to the ledger was left by a crash: its rows are verified
  const sha256 = interval?.file === file ? interval.sha256 : null
  const damage = await damageOfVersion(dataFolder, orgId, { resource, day, file }, sha256)
  if (damage === undefined)
    return { intact: { path: pathOf(file), sha256 }, versions: landed.length }
  warn(`${await quarantine(dataFolder, orgId, damage)}; the day is written again`)
  return { next, versions: landed.length }
}

interface NewVersion {
  readonly day: Day
  readonly content: DayContent
  /** When it was fetched, later than the versions before it; milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly path: string
}

/** Maximum characters of days written together: all of them are in memory at once. */
const CHARACTERS_TOGETHER = 4 * 1024 * 1024

/** The size of the buffer for reading lines; a longer line raises it. */
const BUFFER_BYTES = 1024 * 1024

/**
 * Writes versions of days of one resource, each to a temporary file that is synced and renamed.
 * Small days share a statement, because a statement takes longer than their rows.
 *
 * @returns the files, by their days.
 */
export async function writeDays(
  to: Omit<Lake, 'ledger'>,
  resource: string,
  versions: readonly NewVersion[],
): Promise<Map<Day, WrittenFile>> {
  const sized = versions.map((each) => ({ ...each, bytes: each.content.source.sizeAtMost }))
  const batches = packed(sized, CHARACTERS_TOGETHER)
  const written = batches.map((batch) => writeBatch(to, resource, batch))
  return new Map((await allOrThrow(written)).flat())
}

interface WrittenFile {
  readonly path: string
  readonly sha256: string
}

interface NewFile extends NewVersion {
  readonly temporary: string
  /** Identifies its lines: the file if it holds only these lines, else the day. */
  readonly dayOrFile: string
}

async function writeBatch(
  to: Omit<Lake, 'ledger'>,
  resource: string,
  batch: readonly NewVersion[],
): Promise<[Day, WrittenFile][]> {
  const files: NewFile[] = []
  const lines: LineFile[] = []
  const others: DayRows[] = []
  const [first] = batch
  if (first === undefined) return []
  const folder = dirname(dirname(first.path))
  const shared = temporaryPath(bufferPath(to, resource, first.day, 'lines'))
  try {
    makeFolder(folder)
    for (const version of batch) {
      const { day, content, path } = version
      mkdirSync(dirname(path), { recursive: true })
      const own = 'openFile' in content.source ? await content.source.openFile() : undefined
      if (own !== undefined) lines.push(own)
      if ('rows' in content.source) others.push({ day, rows: content.source.rows() })
      files.push({ ...version, temporary: temporaryPath(path), dayOrFile: own?.path ?? day })
    }
    if (others.length > 0) lines.push(writeLines(shared, others))
    await to.database.use((database) => copyDays(database, to.orgId, resource, files, lines))
    const written = await allOrThrow(files.map(putDay))
    await syncFolder(folder) // a folder of a day may be new; once for all, because it takes time
    return written
  } catch (error) {
    for (const { temporary } of files) await removeFile(temporary)
    throw error
  } finally {
    if (others.length > 0) await removeFile(shared)
  }
}

async function putDay({ day, path, temporary }: NewFile): Promise<[Day, WrittenFile]> {
  const { sha256 } = await syncedSums(temporary)
  await putInPlace(temporary, path)
  return [day, { path, sha256 }]
}

/** @throws AppError if a file does not contain the rows of its day. */
async function copyDays(
  database: Database,
  orgId: string,
  resource: string,
  files: readonly NewFile[],
  lines: readonly LineFile[],
): Promise<void> {
  const isAlone = files.length === 1
  const longest = Math.max(BUFFER_BYTES, ...lines.map(({ longestLine }) => longestLine))
  const view = fill(statement('raw/lines'), {
    files: listLiteral(lines.map(({ path }) => path)),
    longest_line: String(longest),
    buffer_size: String(longest + 1),
  })
  const copies = files.map(({ day, dayOrFile, content: { last, digest }, fetchedAt, temporary }) =>
    fill(statement('raw/land'), {
      rows: isAlone ? 'lines' : `batch where day_or_file = ${literal(dayOrFile)}`,
      file: literal(temporary),
      org_id: literal(orgId),
      resource: literal(resource),
      activity_date: literal(day),
      fetched_at: literal(new Date(fetchedAt).toISOString()),
      request_id: literal(last.requestId ?? ''),
      run_id: literal(last.runId),
      digest: literal(digest),
    }),
  )
  // one script: between statements, the database would wait for this thread
  const batch = 'create or replace temp table batch as from lines'
  const script = isAlone ? [view, ...copies] : [view, batch, ...copies, statement('raw/counts')]
  const counts = await database.rows(script.join(';\n'))
  const countOf = new Map(counts.map((row) => [row['day_or_file'], Number(row['rows'])]))
  for (const { day, dayOrFile, content } of files) {
    const rows = isAlone ? Number(counts[0]?.['Count']) : (countOf.get(dayOrFile) ?? 0)
    if (rows === content.count) continue
    throw new AppError(`${resource} ${day}: ${rows} of ${content.count} rows were written`)
  }
}

/**
 * The database that writes raw days and reads what has landed, one statement per thread. The memory
 * for a large day, which has a statement of its own, depends on its largest row, not on the number
 * of rows; small days that share a statement are in memory at once.
 */
export class LandingDatabase extends ConnectionPool<Database> {
  constructor(dataFolder: string) {
    const { landing } = processLimits()
    super({
      concurrency: landing.threads,
      open: () =>
        Database.open(':memory:', {
          ...landing,
          // It needs no threads of its own: they would take work from the threads that wait for it.
          threads: 1,
          freed: 'early',
          tempDirectory: spillFolder(dataFolder),
        }),
      prepare: async (database) => {
        await database.run(statement('lake/macros')) // temporary macros belong to a connection
        return database
      },
    })
  }
}
