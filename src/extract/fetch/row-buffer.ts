import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDay, type Day, type DayRange } from '../../lib/days.ts'
import type { ResponseOrigin, RowHandler } from '../../client/index.ts'
import { removeFile } from '../../lib/files.ts'
import { type DayContent, RowsDigest } from '../land/row-lines.ts'
import type { PageOrigin, RawRow } from '../../lake/raw-days.ts'
import { dayOfRow, isWithin } from '../context.ts'

/** Collects the rows of the due days from a response and skips the days in between. */
export function rowHandler(days: readonly Day[], range: DayRange, rows: RowBuffer): RowHandler {
  const due = new Set(days)
  let origin: ResponseOrigin = { request: '', requestId: null }
  return {
    begin: (begun) => {
      origin = begun
      rows.clear()
    },
    isWanted: (text) => {
      const day = onlyDayOf(text)
      return day === undefined || due.has(day) || !isWithin(day, range)
    },
    row: (row, ordinal) => {
      const day = dayOfRow(origin, row, ordinal, range)
      if (due.has(day)) rows.add(day, row.text)
    },
  }
}

const DATE_FIRST = /^\{\s*"date"\s*:\s*"(\d{4}-\d\d-\d\d)/

/** The day of a row that starts with its only date: it can be skipped without parsing. */
function onlyDayOf(text: string): Day | undefined {
  const isOnly = text.indexOf('date"', text.indexOf('date"') + 1) < 0
  const day = isOnly ? DATE_FIRST.exec(text)?.[1] : undefined
  return day !== undefined && isDay(day) ? day : undefined
}

/** Maximum characters kept in memory: enough for most responses of a night. */
const MOST_IN_MEMORY = 1024 * 1024

/** The text of a row, or its position in the file, in bytes. */
interface BufferedRow {
  text: string | null
  start: number
  /** Characters in memory, bytes in the file. */
  length: number
}

interface BufferedDay {
  readonly rows: BufferedRow[]
  readonly digest: RowsDigest
}

/**
 * Buffers the rows of one response by day until the response is complete. The latest rows are in
 * memory, the earlier ones in a file that is useless after a crash.
 */
export class RowBuffer {
  readonly #path: string
  #days = new Map<Day, BufferedDay>()
  #inMemory: BufferedRow[] = []
  #characters = 0
  #file: number | undefined
  /** Bytes of the file. */
  #end = 0

  constructor(path: string) {
    this.#path = path
  }

  add(day: Day, text: string): void {
    const row = { text, start: 0, length: text.length }
    const buffered = this.#days.get(day) ?? { rows: [], digest: new RowsDigest() }
    this.#days.set(day, buffered)
    buffered.rows.push(row)
    buffered.digest.add(text)
    this.#inMemory.push(row)
    this.#characters += text.length
    if (this.#characters > MOST_IN_MEMORY) this.#moveToFile()
  }

  /** In the order in which they came. */
  rowsOf(day: Day): string[] {
    return this.#days.get(day)?.rows.map((row) => this.#textOf(row)) ?? []
  }

  /** The content of a day to land. Its rows are read only if they are new. */
  contentOf(day: Day, last: PageOrigin): DayContent {
    const { rows, digest } = this.#days.get(day) ?? { rows: [], digest: new RowsDigest() }
    return {
      digest: digest.value(),
      count: rows.length,
      last,
      source: {
        rows: () => this.#rawRows(rows, last),
        sizeAtMost: rows.reduce((sum, { length }) => sum + length, 0),
      },
    }
  }

  /** Forgets all rows. */
  clear(): void {
    this.#days = new Map()
    this.#inMemory = []
    this.#characters = 0
    this.#end = 0
    if (this.#file !== undefined) ftruncateSync(this.#file)
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return
    closeSync(this.#file)
    await removeFile(this.#path)
  }

  #moveToFile(): void {
    const bytes = this.#inMemory.map((row) => {
      const text = Buffer.from(row.text ?? '')
      Object.assign(row, { text: null, start: this.#end, length: text.byteLength })
      this.#end += text.byteLength
      return text
    })
    this.#inMemory = []
    this.#characters = 0
    const [first] = bytes
    const isOne = first !== undefined && bytes.length === 1
    appendFileSync(this.#opened(), isOne ? first : Buffer.concat(bytes))
  }

  /** Opens the file on first use, and empties it. */
  #opened(): number {
    if (this.#file !== undefined) return this.#file
    mkdirSync(dirname(this.#path), { recursive: true })
    this.#file = openSync(this.#path, 'a+')
    ftruncateSync(this.#file)
    return this.#file
  }

  *#rawRows(rows: readonly BufferedRow[], origin: PageOrigin): Generator<RawRow> {
    for (const [ordinal, row] of rows.entries()) yield { item: this.#textOf(row), ordinal, origin }
  }

  #textOf({ text, start, length }: BufferedRow): string {
    if (text !== null) return text
    const bytes = Buffer.allocUnsafe(length)
    if (readSync(this.#opened(), bytes, 0, length, start) < length)
      throw new RangeError(`${this.#path} ends before byte ${start + length}`)
    return bytes.toString('utf8')
  }
}
