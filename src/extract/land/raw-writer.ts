import { basename, join } from 'node:path'
import type { Day } from '../../lib/days.ts'
import { allOrThrow } from '../../lib/concurrency.ts'
import {
  isVersionOf,
  quarantineFolder,
  rawFolder,
  type RawFile,
  versionName,
  versionTime,
} from '../../lake/layout.ts'
import { versionsIn, readRowsOfVerified, type RawRow } from '../../lake/raw-days.ts'
import { intervalKey, type Ledger } from '../../lake/ledger.ts'
import { rowsSql, sha256AsLanded } from '../../lake/merged.ts'
import { quarantine, type DamagedFile } from '../../lake/quarantine.ts'
import type { Warn } from '../../lib/world.ts'
import { statement, fill } from '../../lib/package.ts'
import { readPageSums, type PageSums } from '../../lake/page-sums.ts'
import { servedRow, sumOf, type ServedRow } from '../../client/index.ts'
import type { DayContent } from './row-lines.ts'
import type { PageHeader } from './page-buffer.ts'
import { damageOfVersion } from './verify-versions.ts'
import { writeDays, type Destination, type WrittenFile } from './write-days.ts'

/** The served content of one day. */
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
}

/** The versions of a day in the lake. */
interface KnownVersions {
  readonly count: number
  /** Fetch times, with quarantine: a new version gets a later one even if a clock was set back. */
  readonly times: readonly number[]
  /** The newest version if it holds the same rows; `sha256`: null if not in the ledger. */
  readonly newest?: { readonly path: string; readonly sha256: string | null }
}

const PAGE = statement('raw/page')

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

  /** The checksums of the pages of the ledger's version; null unless its file is verified. */
  async landedPages(resource: string, day: Day): Promise<PageSums | null> {
    const { ledger, warn } = this.#options
    const { file, digest, sha256 } = ledger.get(intervalKey(resource, day)) ?? {}
    if (file == null || digest == null || sha256 == null) return null
    const sums = await readPageSums(this.#options, resource, day, digest, warn)
    const damage = sums === null ? null : await this.#damageOf({ resource, day, file }, sha256)
    return damage === undefined ? sums : null
  }

  /** The rows of a page, read from the lake; null if the version does not contain them. */
  async pageInLake(
    resource: string,
    day: Day,
    file: string,
    { origin, sum }: PageHeader,
  ): Promise<ServedRow[] | null> {
    // The file was verified when its pagination was opened: this database reads no damaged file.
    const path = join(this.#folder(rawFolder, resource, day), file)
    const sql = fill(PAGE, { rows: rowsSql([path]), page: String(origin.page) })
    const rows = await this.#options.database.use((database) => database.rows(sql).catch(() => []))
    const items = rows.flatMap(({ item }) => (typeof item === 'string' ? [item] : []))
    const isSame = sumOf(`[${items.join(',')}]`, items.length).sha256 === sum.sha256
    return isSame ? items.map(servedRow) : null
  }

  /** The rows of a version that was verified; null if they cannot be read. */
  rowsInLake(resource: string, day: Day, file: string): Promise<readonly RawRow[] | null> {
    const path = join(this.#folder(rawFolder, resource, day), file)
    return this.#options.database.use((database) => readRowsOfVerified(database, path))
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
      return [{ day, content, fetchedAt, path: join(this.#folder(rawFolder, resource, day), file) }]
    })
    const written = await writeDays(this.#options, resource, fresh)
    return allOrThrow(
      compared.map(async ({ served, known: { newest, count } }) => {
        const isNew = newest === undefined
        const { path, sha256 } = newest ?? writtenOf(written, served.day)
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
    const landed = versionsIn(this.#folder(rawFolder, resource, day))
    const inQuarantine = versionsIn(this.#folder(quarantineFolder, resource, day))
    const known = { count: landed.length, times: [...landed, ...inQuarantine].map(versionTime) }
    const file = landed.at(-1)
    if (file === undefined || !isVersionOf(file, digest)) return known
    if ((inQuarantine.at(-1) ?? '') > file) return known
    const interval = this.#options.ledger.get(intervalKey(resource, day))
    const sha256 = interval?.file === file ? interval.sha256 : null
    const damage = await this.#damageOf({ resource, day, file }, sha256)
    if (damage === undefined) {
      const path = join(this.#folder(rawFolder, resource, day), file)
      return { ...known, newest: { path, sha256 } }
    }
    const { dataFolder, orgId, warn } = this.#options
    warn(`${await quarantine(dataFolder, orgId, damage)}; the day is written again`)
    return { ...known, count: landed.length - 1 }
  }

  /** Verifies a file. One unknown to the ledger was left by a crash: its rows are verified. */
  async #damageOf(raw: RawFile, sha256: string | null): Promise<DamagedFile | undefined> {
    const { dataFolder, orgId } = this.#options
    return damageOfVersion(dataFolder, orgId, raw, sha256)
  }

  #folder(place: typeof rawFolder, resource: string, day: Day): string {
    return place(this.#options.dataFolder, this.#options.orgId, resource, day)
  }
}

function writtenOf(files: ReadonlyMap<Day, WrittenFile>, day: Day): WrittenFile {
  const file = files.get(day)
  if (file === undefined) throw new RangeError(`${day} was not written`)
  return file
}
