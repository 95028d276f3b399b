import { appendFile, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startOf, type Day } from '../core/days.ts'
import { fromPathSegment, listIfThere, pathSegment, readIfThere, writeAtomic } from './files.ts'

/** What is known of one organisation's resource on one day. No entry: the day is missing. */
export interface Interval {
  readonly resource: string
  readonly day: Day
  /** `failed` only while nothing has ever landed for the day. */
  readonly status: 'landed' | 'empty' | 'failed'
  /** When the current version was last seen to be what the platform serves; null while failed. */
  readonly fetchedAt: number | null
  readonly rowCount: number | null
  /** Versions in the lake. */
  readonly versions: number
  /** Times the day was asked for, failures counted. */
  readonly attempts: number
  readonly requestId: string | null
  /** File name of the current version, in the day's folder of the lake. */
  readonly file: string | null
  /** Of the file's bytes, hex. */
  readonly sha256: string | null
  /** Of the rows, whatever their order. */
  readonly digest: string | null
  /** Why the last attempt failed; null when it did not. */
  readonly error: string | null
  /**
   * What the day's totals were when the first of several pages was asked for,
   * as long as it is not proven that they stayed so up to the last; else null.
   */
  readonly witness?: string | null
  /** When the platform last refused to serve the landed day again, milliseconds since the epoch. */
  readonly refusedAt?: number
  /** What the last look found of a settled day that came back much smaller, until a second look. */
  readonly suspect?: Suspect
}

/** Rows that are believed when they are found a second time. */
export interface Suspect {
  /** Of the rows, whatever their order. */
  readonly digest: string
  readonly rowCount: number
  /** When they were first found, by the platform's clock, milliseconds since the epoch. */
  readonly seenAt: number
}

/** One organisation's intervals. The lake is the truth; this is its index. */
export type Ledger = ReadonlyMap<string, Interval>

export function intervalKey(resource: string, day: Day): string {
  return `${resource}/${day}`
}

const MS_PER_DAY = 86_400_000

/** The age, in days, of the last scheduled look: what comes after it is the sweep. */
export const SETTLED_AGE = 30

/** True when the last scheduled look at the day has been had. */
export function isSettled(interval: Pick<Interval, 'day' | 'fetchedAt'>): boolean {
  if (interval.fetchedAt === null) return false
  return isOld(interval.day, interval.fetchedAt)
}

/** True when the day's last scheduled look has come. */
export function isOld(day: Day, now: number): boolean {
  return now >= startOf(day) + SETTLED_AGE * MS_PER_DAY
}

/**
 * The ledger on disk: one journal of JSON lines an organisation, each line the
 * whole state of one interval, the last line of an interval winning. Readable
 * at any time, also while a run appends; a line cut off by a crash is passed
 * over, and its day's file is found again in the lake when the day is asked for.
 */
export class LedgerFile {
  readonly #path: string
  readonly #intervals: Map<string, Interval>
  #lines: number
  #pending: string[] = []
  #writing: Promise<void> | undefined
  /** What the next append begins with: a line that a crash cut off is ended first. */
  #opening: '' | '\n'

  private constructor(path: string, journal: string) {
    const lines = linesOf(journal)
    this.#path = path
    this.#intervals = fold(lines)
    this.#lines = lines.length
    this.#opening = journal === '' || journal.endsWith('\n') ? '' : '\n'
  }

  static async open(dataFolder: string, orgId: string): Promise<LedgerFile> {
    const path = ledgerPath(dataFolder, orgId)
    const ledger = new LedgerFile(path, (await readIfThere(path)) ?? '')
    await ledger.#compactWhenLong()
    return ledger
  }

  /** Reads without the right to write. */
  static async read(dataFolder: string, orgId: string): Promise<Ledger> {
    return fold(linesOf((await readIfThere(ledgerPath(dataFolder, orgId))) ?? ''))
  }

  get intervals(): Ledger {
    return this.#intervals
  }

  /** Records the state of intervals; durable when the promise resolves. */
  async record(intervals: readonly Interval[]): Promise<void> {
    for (const interval of intervals) {
      this.#intervals.set(intervalKey(interval.resource, interval.day), interval)
      this.#pending.push(JSON.stringify(interval))
    }
    this.#writing ??= this.#flush()
    await this.#writing
    if (this.#pending.length > 0) await this.record([])
  }

  /** Writers that come while a flush is under way share the next one. */
  async #flush(): Promise<void> {
    try {
      const lines = this.#pending
      this.#pending = []
      await mkdir(dirname(this.#path), { recursive: true })
      await appendFile(this.#path, this.#opening + lines.map((line) => `${line}\n`).join(''))
      this.#opening = ''
      const handle = await open(this.#path, 'r+')
      await handle.datasync()
      await handle.close()
      this.#lines += lines.length
    } finally {
      this.#writing = undefined
    }
  }

  async #compactWhenLong(): Promise<void> {
    if (this.#lines <= 10_000 || this.#lines < 4 * this.#intervals.size) return
    const lines = [...this.#intervals.values()].map((interval) => `${JSON.stringify(interval)}\n`)
    await writeAtomic(this.#path, lines.join(''))
    this.#opening = ''
    this.#lines = lines.length
  }
}

/** The organisations that have a ledger. */
export async function knownOrganisations(dataFolder: string): Promise<string[]> {
  const entries = await listIfThere(join(dataFolder, 'state', 'ledger'))
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ndjson'))
    .map((entry) => fromPathSegment(entry.name.slice(0, -'.ndjson'.length)))
    .sort()
}

function ledgerPath(dataFolder: string, orgId: string): string {
  return join(dataFolder, 'state', 'ledger', `${pathSegment(orgId)}.ndjson`)
}

function linesOf(journal: string): string[] {
  return journal.split('\n').filter((line) => line !== '')
}

function fold(lines: readonly string[]): Map<string, Interval> {
  const intervals = new Map<string, Interval>()
  for (const line of lines) {
    const interval = parseLine(line)
    if (interval !== undefined)
      intervals.set(intervalKey(interval.resource, interval.day), interval)
  }
  return intervals
}

function parseLine(line: string): Interval | undefined {
  try {
    return JSON.parse(line) as Interval
  } catch {
    return undefined // cut off by a crash: the day is asked for again
  }
}
