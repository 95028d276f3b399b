import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Day } from '../core/days.ts'
import { listLiteral, literal, type Database } from '../store/duckdb.ts'
import { asidePath, settle, sha256OfFile } from '../store/files.ts'
import { isVersionOf, quarantineFolder, rawFolder, versionName, versionsIn } from '../store/lake.ts'
import { intervalKey, type Ledger } from '../store/ledger.ts'
import { damageOf, quarantine, type DamagedFile, type RawFile } from '../store/quarantine.ts'
import { readItems } from '../store/raw-items.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import { readWalkedDay, writeWalkedDay, type WalkedDay } from '../store/walked-days.ts'
import type { ServedRow } from '../client/index.ts'
import type { DayContent } from './day-content.ts'
import { Part } from './part.ts'
import { linesPath, partPath, spoolPath } from './parts-folder.ts'
import { withLines } from './row-lines.ts'
import { RowSpool } from './row-spool.ts'
import { proveVersions } from './versions.ts'

/** What the lake holds of one day after it was landed. */
export interface LandedDay {
  readonly file: string
  readonly sha256: string
  readonly digest: string
  readonly rows: number
  readonly versions: number
  /** False when the newest version in the lake had these rows already. */
  readonly isNew: boolean
}

/** A version that was read to its end; `sha256`: null where the ledger does not tell it. */
interface ProvenFile {
  readonly file: string
  readonly sha256: string | null
}

const LAND = statement('land')

/** Longer rows raise it. */
const MIN_OBJECT_BYTES = 1024 * 1024

export interface RawWriterOptions {
  readonly dataFolder: string
  readonly orgId: string
  /** What the files are proven against. */
  readonly ledger: Ledger
  readonly database: Database
  readonly warn: (message: string) => void
}

/** Writes raw days of one organisation: aside, synced, renamed. */
export class RawWriter {
  readonly #dataFolder: string
  readonly #orgId: string
  readonly #ledger: Ledger
  readonly #database: Database
  readonly #warn: RawWriterOptions['warn']

  constructor(options: RawWriterOptions) {
    this.#dataFolder = options.dataFolder
    this.#orgId = options.orgId
    this.#ledger = options.ledger
    this.#database = options.database
    this.#warn = options.warn
  }

  /** A place for the rows of an answer, named after its first day. */
  spool(resource: string, first: Day): RowSpool {
    return new RowSpool(spoolPath(this.#dataFolder, this.#orgId, resource, first))
  }

  /** Goes on with the part that a walk of the day left, its rows told in order; or begins one. */
  async openPart(resource: string, day: Day, onRow: (row: ServedRow) => void): Promise<Part> {
    return Part.open(partPath(this.#dataFolder, this.#orgId, resource, day), onRow)
  }

  /** How the day came when rows with this digest were landed; null where nobody knows. */
  async walkedDay(day: Day, digest: string): Promise<WalkedDay | null> {
    return readWalkedDay(this.#dataFolder, this.#orgId, day, digest, this.#warn)
  }

  async rememberWalk(day: Day, walked: WalkedDay): Promise<void> {
    await writeWalkedDay(this.#dataFolder, this.#orgId, day, walked)
  }

  /**
   * Makes the rows a version of the day, unless the newest version holds the same
   * rows already.
   */
  async land(resource: string, day: Day, content: DayContent): Promise<LandedDay> {
    const folder = this.#folder(rawFolder, resource, day)
    const same = await this.#newestOf(resource, day, content.digest)
    const file = same?.file ?? versionName(content.last.fetchedAt, content.digest)
    if (same === undefined) await this.#write(resource, day, content, join(folder, file))
    return {
      file,
      sha256: same?.sha256 ?? (await sha256OfFile(join(folder, file))),
      digest: content.digest,
      rows: content.count,
      versions: (await versionsIn(folder)).length,
      isNew: same === undefined,
    }
  }

  /** The rows of a version, as served; null for one that cannot be read. */
  async items(resource: string, day: Day, file: string): Promise<readonly string[] | null> {
    return readItems(join(rawFolder(this.#dataFolder, this.#orgId, resource, day), file))
  }

  /**
   * The newest version, where it holds these rows and is proven to. One that
   * fails its proof goes into quarantine; the one before it is not the newest truth.
   */
  async #newestOf(resource: string, day: Day, digest: string): Promise<ProvenFile | undefined> {
    const file = (await versionsIn(this.#folder(rawFolder, resource, day))).at(-1)
    const lost = (await versionsIn(this.#folder(quarantineFolder, resource, day))).at(-1)
    if (file === undefined || !isVersionOf(file, digest)) return undefined
    if (lost !== undefined && lost > file) return undefined
    const known = this.#ledger.get(intervalKey(resource, day))
    const sha256 = known?.file === file ? known.sha256 : null
    const damage = await this.#damageOf({ resource, day, file }, sha256)
    if (damage === undefined) return { file, sha256 }
    const found = await quarantine(this.#dataFolder, this.#orgId, damage)
    this.#warn(`${found}; the day is landed anew`)
    return undefined
  }

  /** A file that the ledger does not know was left by a crash: it is opened. */
  async #damageOf(raw: RawFile, sha256: string | null): Promise<DamagedFile | undefined> {
    if (sha256 !== null) return damageOf(this.#dataFolder, this.#orgId, raw, sha256)
    return (await proveVersions(this.#dataFolder, this.#orgId, [raw])).damaged[0]
  }

  #folder(place: typeof rawFolder, resource: string, day: Day): string {
    return place(this.#dataFolder, this.#orgId, resource, day)
  }

  async #write(resource: string, day: Day, content: DayContent, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true })
    const aside = asidePath(path)
    const lines = linesPath(this.#dataFolder, this.#orgId, resource, day)
    try {
      await withLines(lines, content.rows, ({ paths, longestLine }) =>
        this.#database.run(
          fill(LAND, {
            lines: listLiteral(paths),
            file: literal(aside),
            longest_line: String(Math.max(MIN_OBJECT_BYTES, longestLine)),
            org_id: literal(this.#orgId),
            resource: literal(resource),
            activity_date: literal(day),
            fetched_at: literal(new Date(content.last.fetchedAt).toISOString()),
            request_id: literal(content.last.requestId ?? ''),
            run_id: literal(content.last.runId),
            digest: literal(content.digest),
          }),
        ),
      )
      await settle(aside, path)
    } catch (error) {
      await rm(aside, { force: true })
      throw error
    }
  }
}
