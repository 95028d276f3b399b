import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Day } from '../../lib/days.ts'
import { removeFile } from '../../lib/files.ts'
import { type DayContent, type RawRow, type PageOrigin, RowsDigest } from './row-lines.ts'

/** Characters that are kept in memory: enough for most answers of a night. */
const MOST_IN_MEMORY = 1024 * 1024

/** A row, or where it is in the file, in bytes. */
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
 * The rows of one answer by their day, while it is not known whether the answer
 * is whole. The latest are in memory, and those before them in a file, which is
 * worth nothing after a crash.
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

  /** A day to be landed: its rows are read where they are new. */
  contentOf(day: Day, last: PageOrigin): DayContent {
    const { rows, digest } = this.#days.get(day) ?? { rows: [], digest: new RowsDigest() }
    return {
      digest: digest.value(),
      count: rows.length,
      last,
      source: {
        rows: () => this.#rawRows(rows, last),
        characters: rows.reduce((sum, { length }) => sum + length, 0),
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

  /** The file, which is empty before the first row. */
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
