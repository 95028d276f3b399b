import { appendFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { isDay, MS_PER_DAY, startOf, type Day } from '../lib/days.ts'
import { confirmLease } from '../lib/fence.ts'
import {
  fromPathSegment,
  makeFolder,
  namesEnding,
  pathSegment,
  readIfThere,
  syncFile,
  writeAtomic,
} from '../lib/files.ts'
import { jsonObject } from '../lib/json.ts'
import { someOf } from '../lib/text.ts'
import type { Warn } from '../lib/world.ts'
import { Recent } from './recent.ts'

const text = z.string().min(1)
const count = z.number().int().nonnegative()
const fileName = text.refine((name) => !/[/\\]/.test(name))

/** `YYYY-MM-DD`, a day that exists. */
export const dayShape = z.custom<Day>((value) => typeof value === 'string' && isDay(value))

const pendingConfirmation = z.object({
  /** Digest of the rows, independent of their order. */
  digest: text,
  rowCount: count,
  /** When they were first found, by the platform's clock, milliseconds since the epoch. */
  seenAt: z.number(),
})

/** Rows that are accepted once they are served a second time. */
export type PendingConfirmation = Readonly<z.infer<typeof pendingConfirmation>>

/** A second request sooner than this may hit the same temporary fault. */
const CONFIRMED_AFTER_MS = 3_600_000

/**
 * Whether it is time to request a day again that came back much smaller. A run with a wrong clock may
 * have recorded a later time, which says nothing.
 */
export function isConfirmationDue({ seenAt }: PendingConfirmation, now: number): boolean {
  return now >= seenAt + CONFIRMED_AFTER_MS || seenAt > now + MS_PER_DAY
}

const interval = z.object({
  resource: text,
  day: dayShape,
  /** `failed` only while nothing has ever landed for the day. */
  status: z.enum(['landed', 'empty', 'failed']),
  /** When the platform last served the current version; null while failed. */
  fetchedAt: z.number().nullable(),
  rowCount: count.nullable(),
  /** Versions in the lake. */
  versions: count,
  /** Times the day was asked for, failures counted. */
  attempts: count,
  requestId: z.string().nullable(),
  /** File name of the current version, in the day's folder of the lake. */
  file: fileName.nullable(),
  /** SHA-256 of the file's bytes, hex. */
  sha256: text.nullable(),
  /** Digest of the rows, independent of their order. */
  digest: text.nullable(),
  /** Why the last attempt failed; null when it did not. */
  error: z.string().nullable(),
  /**
   * The version of the day's totals when the first of several pages was requested, until it is
   * verified that the totals stayed the same up to the last page; else null.
   */
  witness: z.exactOptional(z.string().nullable()),
  /** When the platform last refused to serve the landed day again, milliseconds since the epoch. */
  refusedAt: z.exactOptional(z.number()),
  /** Rows of a settled day that came back much smaller, until another recheck confirms them. */
  suspect: z.exactOptional(pendingConfirmation),
})

/** What is known of one organisation's resource on one day. No entry: the day is missing. */
export type Interval = Readonly<z.infer<typeof interval>>

/** A failed day has no file data; any other day has all of it. */
function isConsistent({ status, fetchedAt, rowCount, file, sha256, digest }: Interval): boolean {
  const isFailed = status === 'failed'
  const isNull = [fetchedAt, file, sha256, digest].map((value) => value === null)
  return isNull.every((each) => each === isFailed) && !(isFailed && rowCount !== null)
}

const forgotten = z.object({
  resource: text,
  day: dayShape,
  status: z.literal('missing'),
  /** The version that is missing. No earlier version may take its place. */
  file: z.exactOptional(fileName),
})

/** A journal line that says that the day is missing again. */
type Forgotten = Readonly<z.infer<typeof forgotten>>

const journalLine = z.union([interval.loose().refine(isConsistent), forgotten])

/** One organisation's intervals. The lake is the truth; this is its index. */
export type Ledger = ReadonlyMap<string, Interval>

export function intervalKey(resource: string, day: Day): string {
  return `${resource}/${day}`
}

/** The age, in days, of the last scheduled recheck. After it, days are swept. */
export const SETTLED_AGE = 30

/** True when the last scheduled recheck of the day has been made. */
export function isSettled(interval: Pick<Interval, 'day' | 'fetchedAt'>): boolean {
  if (interval.fetchedAt === null) return false
  return isOld(interval.day, interval.fetchedAt)
}

/** True when the day's last scheduled recheck is due or made. */
export function isOld(day: Day, now: number): boolean {
  return now >= startOf(day) + SETTLED_AGE * MS_PER_DAY
}

/**
 * The ledger on disk: one NDJSON journal per organisation. Each line is the whole state of one
 * interval, and the last line of an interval wins. It can be read at any time, even while a run
 * appends. Unreadable lines are skipped; `openLedger` recovers what they said from the lake.
 */
export class LedgerFile {
  readonly dataFolder: string
  readonly orgId: string
  readonly warn: Warn
  readonly #journal: Journal
  #pending: string[] = []
  /** The flush that will write the pending lines. */
  #next: Promise<void> | undefined
  /** The end of the last flush, whether or not it failed. */
  #last: Promise<void> = Promise.resolve()
  /** Prefix of the next append: a line break if the last line was cut off. */
  #opening: '' | '\n' = ''

  private constructor(journal: Journal, warn: Warn) {
    this.dataFolder = journal.dataFolder
    this.orgId = journal.orgId
    this.warn = warn
    this.#journal = journal
  }

  /** Opens the ledger; the caller holds the lock. Reports and removes unreadable lines. */
  static async open(dataFolder: string, orgId: string, warn: Warn): Promise<LedgerFile> {
    const journal = await readJournal(dataFolder, orgId)
    const { path, lines, isCutOff, damaged } = journal
    if (damaged.length > 0) warn(damagedLines(path, damaged))
    const isBroken = isCutOff || damaged.length > 0
    if (isBroken || (lines > 10_000 && lines >= 4 * journal.intervals.size)) {
      const kept = linesOf(journal) // takes a while for many intervals
      if (isBroken || lines >= 4 * kept.length) await writeAtomic(path, kept.join(''))
    }
    return new LedgerFile(journal, warn)
  }

  /** Reads the ledger without opening it for writing. */
  static async read(dataFolder: string, orgId: string): Promise<Ledger> {
    return (await readJournal(dataFolder, orgId)).intervals
  }

  get intervals(): Ledger {
    return this.#journal.intervals
  }

  /** Days that landed once and are missing now, with the version that is missing. */
  get forgotten(): ReadonlyMap<string, Forgotten> {
    return this.#journal.forgotten
  }

  /** The versions that were ever current, also those that are gone, by interval. */
  get landed(): ReadonlyMap<string, readonly string[]> {
    return this.#journal.landed
  }

  /** Records the state of intervals; durable when the promise resolves. */
  async record(intervals: readonly Interval[]): Promise<void> {
    await this.#append(intervals)
  }

  /** Forgets the days, so that they are missing. Durable like `record`. */
  async forget(days: readonly Pick<Interval, 'resource' | 'day' | 'file'>[]): Promise<void> {
    await this.#append(
      days.map(({ resource, day, file }) => {
        const missing = { resource, day, status: 'missing' } as const
        return file === null ? missing : { ...missing, file }
      }),
    )
  }

  async #append(entries: readonly (Interval | Forgotten)[]): Promise<void> {
    for (const entry of entries) {
      apply(entry, this.#journal)
      this.#pending.push(lineOf(entry))
    }
    await this.#write()
  }

  /** Writes that arrive during a flush share the next one. */
  #write(): Promise<void> {
    if (this.#next === undefined) {
      this.#next = this.#last.then(() => this.#flush())
      this.#last = this.#next.catch(() => undefined)
    }
    return this.#next
  }

  async #flush(): Promise<void> {
    this.#next = undefined
    const lines = this.#pending
    this.#pending = []
    const { path } = this.#journal
    makeFolder(dirname(path))
    const opening = this.#opening
    confirmLease(path)
    this.#opening = '\n' // until the append completes: a full disk may cut it off
    appendFileSync(path, opening + lines.join(''))
    this.#opening = ''
    await syncFile(path)
  }
}

/** What a ledger says of its days, whether it is open or was only read. */
export type JournalState = Pick<
  LedgerFile,
  'dataFolder' | 'orgId' | 'intervals' | 'forgotten' | 'landed'
>

/** The organisations with a ledger. Files with other names are ignored. */
export async function knownOrganisations(dataFolder: string): Promise<string[]> {
  const names = await namesEnding(join(dataFolder, 'state', 'ledger'), '.ndjson')
  return names.flatMap((name) => fromPathSegment(name.slice(0, -'.ndjson'.length)) ?? []).sort()
}

export interface Journal {
  readonly dataFolder: string
  readonly orgId: string
  readonly path: string
  readonly intervals: Map<string, Interval>
  /** Days that landed once and are missing. */
  readonly forgotten: Map<string, Forgotten>
  /** The versions that were ever current, also those that are gone. */
  readonly landed: Map<string, readonly string[]>
  readonly lines: number
  /** Whether a crash cut off the last line. */
  readonly isCutOff: boolean
  /** Numbers, from 1, of the other lines that cannot be read. */
  readonly damaged: readonly number[]
}

/**
 * The parsed journals that were read last, by path. Journals grow at the end: only new lines are
 * parsed. Few are kept, because each takes some hundred kilobytes.
 */
const lastRead = new Recent<Folded & { readonly text: string }>(16)

export async function readJournal(dataFolder: string, orgId: string): Promise<Journal> {
  const path = join(dataFolder, 'state', 'ledger', `${pathSegment(orgId)}.ndjson`)
  const text = (await readIfThere(path)) ?? ''
  const last = lastRead.get(path)
  const isGrown = last !== undefined && !last.isCutOff && text.startsWith(last.text)
  const folded = isGrown ? fold(text.slice(last.text.length), last) : fold(text)
  lastRead.set(path, { ...folded, text })
  return { ...folded, ...copyOf(folded), dataFolder, orgId, path }
}

/** The warning for invalid lines, which a crash alone does not explain. */
export function damagedLines(path: string, lines: readonly number[]): string {
  const which = `${lines.length === 1 ? 'line' : 'lines'} ${someOf(lines.map(String))}`
  return `${path}: ${which} cannot be read; their days are recovered from the lake`
}

type Folded = Omit<Journal, 'dataFolder' | 'orgId' | 'path'>

const NOTHING: Folded = {
  intervals: new Map(),
  forgotten: new Map(),
  landed: new Map(),
  lines: 0,
  isCutOff: false,
  damaged: [],
}

type State = Pick<Journal, 'intervals' | 'forgotten' | 'landed'>

function copyOf({ intervals, forgotten, landed }: State): State {
  return {
    intervals: new Map(intervals),
    forgotten: new Map(forgotten),
    landed: new Map(landed),
  }
}

/** Applies a line: the last one of an interval wins. */
function apply(entry: Interval | Forgotten, { intervals, forgotten, landed }: State): void {
  const key = intervalKey(entry.resource, entry.day)
  const before = landed.get(key) ?? []
  if (entry.file != null && !before.includes(entry.file)) landed.set(key, [...before, entry.file])
  if (entry.status === 'missing') {
    intervals.delete(key)
    if (entry.file !== undefined) forgotten.set(key, entry)
  } else {
    intervals.set(key, entry)
    if (entry.file !== null) forgotten.delete(key)
  }
}

/** Applies the lines of a journal to the state before them. */
function fold(journal: string, before: Folded = NOTHING): Folded {
  const state = copyOf(before)
  const damaged: number[] = []
  const whole = journal.split('\n')
  const last = whole.pop() ?? ''
  const lines = before.lines + whole.length
  for (const [index, text] of [...whole, last].entries()) {
    if (text === '') continue
    const entry = journalLine.safeParse(jsonObject(text)).data
    if (entry === undefined) damaged.push(before.lines + index + 1)
    else apply(entry, state)
  }
  const isCutOff = last !== ''
  const isTorn = isCutOff && damaged.at(-1) === lines + 1
  const reported = isTorn ? damaged.slice(0, -1) : damaged
  return { ...state, lines, isCutOff, damaged: [...before.damaged, ...reported] }
}

/** The lines of a journal with this state: the earlier versions of an interval come first. */
function linesOf({ intervals, forgotten, landed }: State): string[] {
  const now = [...intervals, ...forgotten]
  const earlier = now.flatMap(([key, { resource, day, file }]) =>
    (landed.get(key) ?? [])
      .filter((each) => each !== file)
      .map((each) => ({ resource, day, status: 'missing', file: each }) as const),
  )
  return [...earlier, ...now.map(([, entry]) => entry)].map(lineOf)
}

function lineOf(entry: Interval | Forgotten): string {
  return `${JSON.stringify(entry)}\n`
}
