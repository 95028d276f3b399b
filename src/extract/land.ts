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
import { Part, type PartContent } from './part.ts'
import { withSegments } from './segments.ts'
import { partPath, spoolPath } from './parts-folder.ts'
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

  /** Begins a day: add its pages to the part, then `land` it. */
  async begin(resource: string, day: Day): Promise<Part> {
    return Part.create(partPath(this.#dataFolder, this.#orgId, resource, day))
  }

  /** A place for the rows of an answer, named after its first day. */
  spool(resource: string, first: Day): RowSpool {
    return new RowSpool(spoolPath(this.#dataFolder, this.#orgId, resource, first))
  }

  /** Goes on with the part that a walk of the day left, its rows told in order; or begins one. */
  async resume(resource: string, day: Day, onItem: (item: string) => void): Promise<Part> {
    return Part.reopen(partPath(this.#dataFolder, this.#orgId, resource, day), onItem)
  }

  /**
   * Turns a part into a version of the day, unless the newest version holds
   * the same rows already. The part is gone afterwards.
   */
  async land(resource: string, day: Day, part: Part): Promise<LandedDay> {
    const content = await part.close()
    const folder = this.#folder(rawFolder, resource, day)
    const same = await this.#newestOf(resource, day, content.digest)
    const file = same ?? versionName(content.last.fetchedAt, content.digest)
    if (same === undefined) await this.#write(resource, day, content, join(folder, file))
    await rm(content.path, { force: true })
    return {
      file,
      sha256: await sha256OfFile(join(folder, file)),
      digest: content.digest,
      rows: content.rows,
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
  async #newestOf(resource: string, day: Day, digest: string): Promise<string | undefined> {
    const file = (await versionsIn(this.#folder(rawFolder, resource, day))).at(-1)
    const lost = (await versionsIn(this.#folder(quarantineFolder, resource, day))).at(-1)
    if (file === undefined || !isVersionOf(file, digest)) return undefined
    if (lost !== undefined && lost > file) return undefined
    const damage = await this.#damageOf({ resource, day, file })
    if (damage === undefined) return file
    const found = await quarantine(this.#dataFolder, this.#orgId, damage)
    this.#warn(`${found}; the day is landed anew`)
    return undefined
  }

  /** A file that the ledger does not know was left by a crash: it is opened. */
  async #damageOf(raw: RawFile): Promise<DamagedFile | undefined> {
    const known = this.#ledger.get(intervalKey(raw.resource, raw.day))
    if (known?.file === raw.file && known.sha256 !== null) {
      return damageOf(this.#dataFolder, this.#orgId, raw, known.sha256)
    }
    return (await proveVersions(this.#dataFolder, this.#orgId, [raw])).damaged[0]
  }

  #folder(place: typeof rawFolder, resource: string, day: Day): string {
    return place(this.#dataFolder, this.#orgId, resource, day)
  }

  async #write(resource: string, day: Day, content: PartContent, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true })
    const aside = asidePath(path)
    try {
      await withSegments(content.path, (parts) =>
        this.#database.run(
          fill(LAND, {
            parts: listLiteral(parts),
            file: literal(aside),
            longest_line: String(Math.max(MIN_OBJECT_BYTES, content.longestLine)),
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
