import { mkdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Day } from '../../lib/days.ts'
import { allOrThrow } from '../../lib/concurrency.ts'
import { ConnectionPool } from '../../lib/connection-pool.ts'
import { listLiteral, literal, Database } from '../../lib/duckdb.ts'
import { AppError } from '../../lib/errors.ts'
import { temporaryPath, putInPlace, removeFile, syncedSums } from '../../lib/files.ts'
import { packed } from '../../lib/grouped.ts'
import { processLimits } from '../../lib/machine.ts'
import { statement, fill } from '../../lib/package.ts'
import { spillFolder } from '../../lib/spill.ts'
import type { Warn } from '../../lib/world.ts'
import {
  isVersionOf,
  quarantineFolder,
  rawFolder,
  type RawFile,
  versionName,
  versionPath,
  versionTime,
} from '../../lake/layout.ts'
import { intervalKey, type Ledger } from '../../lake/ledger.ts'
import { rowsSql, sha256AsLanded } from '../../lake/merged.ts'
import { readPageSums, type PageSums } from '../../lake/page-sums.ts'
import { quarantine } from '../../lake/quarantine.ts'
import { versionsIn } from '../../lake/raw-days.ts'
import { servedRow, sumOf, type ServedRow } from '../../client/index.ts'
import { bufferPath } from './buffer-paths.ts'
import type { PageHeader } from './page-buffer.ts'
import { type DayContent, writeLines, type DayRows, type LineFile } from './row-lines.ts'
import { damageOfVersion } from './verify-versions.ts'

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

export interface ServedDay {
  readonly day: Day
  readonly content: DayContent
  /** The number of users if a user can be served twice; default: the number of rows. */
  readonly rowCount?: number
}

/** A day, and its version in the lake after landing. */
export interface LandedDay extends ServedDay {
  readonly file: string
  readonly sha256: string
  readonly versions: number
  /** False if the newest version in the lake already had these rows. */
  readonly isNew: boolean
  /** See Interval. */
  readonly witness?: string | null
}

/** The versions of a day in the lake. */
interface KnownVersions {
  readonly count: number
  /** Fetch times, with quarantine: a new version gets a later one even if a clock was set back. */
  readonly times: readonly number[]
  /** The newest version if it holds the same rows; `sha256`: null if not in the ledger. */
  readonly newest?: { readonly path: string; readonly sha256: string | null }
}

interface Destination {
  readonly dataFolder: string
  readonly orgId: string
  readonly database: LandingDatabase
}

interface RawWriterOptions extends Destination {
  /** What the files are verified against. */
  readonly ledger: Ledger
  readonly warn: Warn
}

/** Writes raw days of one organisation: temporary file, synced, renamed. */
export class RawWriter {
  readonly #options: RawWriterOptions

  constructor(options: RawWriterOptions) {
    this.#options = options
  }

  /**
   * The checksums of the pages of the ledger's version; null unless its file is verified. Null also
   * after a newer version went to quarantine: the same rows are then written as a new version, for
   * which all of them are needed.
   */
  async landedPages(resource: string, day: Day): Promise<PageSums | null> {
    const { dataFolder, orgId, ledger, warn } = this.#options
    const { file, digest, sha256 } = ledger.get(intervalKey(resource, day)) ?? {}
    if (file == null || digest == null || sha256 == null) return null
    const inQuarantine = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    if ((inQuarantine.at(-1) ?? '') > file) return null
    const sums = await readPageSums(this.#options, resource, day, digest, warn)
    if (sums === null) return null
    const damage = await damageOfVersion(dataFolder, orgId, { resource, day, file }, sha256)
    return damage === undefined ? sums : null
  }

  /**
   * The rows of a page, read from the lake; null if the version does not contain them, or if they
   * were served with other white space between them than a blank after each comma.
   */
  async pageInLake(
    resource: string,
    day: Day,
    file: string,
    { origin, sum }: PageHeader,
  ): Promise<ServedRow[] | null> {
    // The file was verified when its pagination was opened: this database reads no damaged file.
    const path = this.#pathOf({ resource, day, file })
    const sql = fill(statement('raw/page'), { rows: rowsSql([path]), page: String(origin.page) })
    const rows = await this.#options.database.use((database) => database.rows(sql).catch(() => []))
    const items = rows.flatMap(({ item }) => (typeof item === 'string' ? [item] : []))
    // the sum is of the array as served, whose white space is not in the lake
    const isSame = [',', ', '].some(
      (comma) => sumOf(`[${items.join(comma)}]`, items.length).sha256 === sum.sha256,
    )
    return isSame ? items.map(servedRow) : null
  }

  /**
   * Writes the rows of each day as a new version, unless the newest version already holds
   * the same rows.
   */
  async land<T extends ServedDay>(
    resource: string,
    days: readonly T[],
  ): Promise<(T & LandedDay)[]> {
    const compared = await allOrThrow(
      days.map(async (served) => {
        return { served, known: await this.#newestOf(resource, served.day, served.content.digest) }
      }),
    )
    const fresh = compared.flatMap(({ served: { day, content }, known: { newest, times } }) => {
      if (newest !== undefined) return []
      const fetchedAt = Math.max(content.last.fetchedAt, ...times.map((time) => time + 1))
      const file = versionName(fetchedAt, content.digest)
      return [{ day, content, fetchedAt, path: this.#pathOf({ resource, day, file }) }]
    })
    const written = await writeDays(this.#options, resource, fresh)
    return allOrThrow(
      compared.map(async ({ served, known: { newest, count } }) => {
        const isNew = newest === undefined
        const found = newest ?? written.get(served.day)
        if (found === undefined) throw new RangeError(`${served.day} was not written`)
        const { path, sha256 } = found
        return {
          ...served,
          file: basename(path),
          sha256: sha256 ?? (await sha256AsLanded(path)),
          versions: isNew ? count + 1 : count,
          isNew,
        }
      }),
    )
  }

  /**
   * The newest version, if it holds these rows and is intact. A damaged one is moved to
   * quarantine; the version before it does not take its place.
   */
  async #newestOf(resource: string, day: Day, digest: string): Promise<KnownVersions> {
    const { dataFolder, orgId, ledger, warn } = this.#options
    const landed = versionsIn(rawFolder(dataFolder, orgId, resource, day))
    const inQuarantine = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    const known = { count: landed.length, times: [...landed, ...inQuarantine].map(versionTime) }
    const file = landed.at(-1)
    if (file === undefined || !isVersionOf(file, digest)) return known
    if ((inQuarantine.at(-1) ?? '') > file) return known
    const raw = { resource, day, file }
    const interval = ledger.get(intervalKey(resource, day))
    // a file unknown to the ledger was left by a crash: its rows are verified
    const sha256 = interval?.file === file ? interval.sha256 : null
    const damage = await damageOfVersion(dataFolder, orgId, raw, sha256)
    if (damage === undefined) return { ...known, newest: { path: this.#pathOf(raw), sha256 } }
    warn(`${await quarantine(dataFolder, orgId, damage)}; the day is written again`)
    return { ...known, count: landed.length - 1 }
  }

  #pathOf(raw: RawFile): string {
    return versionPath(this.#options.dataFolder, this.#options.orgId, raw)
  }
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
  to: Destination,
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
  to: Destination,
  resource: string,
  batch: readonly NewVersion[],
): Promise<[Day, WrittenFile][]> {
  const files: NewFile[] = []
  const lines: LineFile[] = []
  const others: DayRows[] = []
  const [first] = batch
  if (first === undefined) return []
  const shared = temporaryPath(bufferPath(to, resource, first.day, 'lines'))
  try {
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
    return await allOrThrow(files.map(putDay))
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
