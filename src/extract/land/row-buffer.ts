import { mkdir, open, type FileHandle } from 'node:fs/promises'
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
  #file: FileHandle | undefined
  /** Bytes of the file that hold rows. */
  #end = 0
  #isStale = false

  constructor(path: string) {
    this.#path = path
  }

  async add(day: Day, text: string): Promise<void> {
    const row = { text, start: 0, length: text.length }
    const buffered = this.#days.get(day) ?? { rows: [], digest: new RowsDigest() }
    this.#days.set(day, buffered)
    buffered.rows.push(row)
    buffered.digest.add(text)
    this.#inMemory.push(row)
    this.#characters += text.length
    if (this.#characters > MOST_IN_MEMORY) await this.#moveToFile()
  }

  /** In the order in which they came. */
  async rowsOf(day: Day): Promise<string[]> {
    const texts: string[] = []
    for (const row of this.#days.get(day)?.rows ?? []) texts.push(await this.#textOf(row))
    return texts
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
    this.#isStale = true
  }

  async close(): Promise<void> {
    await this.#file?.close()
    if (this.#file !== undefined) await removeFile(this.#path)
  }

  async #moveToFile(): Promise<void> {
    const file = await this.#writable()
    const bytes: Buffer[] = []
    for (const row of this.#inMemory) {
      const text = Buffer.from(row.text ?? '')
      bytes.push(text)
      Object.assign(row, { text: null, start: this.#end, length: text.byteLength })
      this.#end += text.byteLength
    }
    this.#inMemory = []
    this.#characters = 0
    const [first] = bytes
    const isOne = first !== undefined && bytes.length === 1
    await file.appendFile(isOne ? first : Buffer.concat(bytes))
  }

  /** An empty file before the first row, and after the rows were forgotten. */
  async #writable(): Promise<FileHandle> {
    if (this.#file !== undefined && !this.#isStale) return this.#file
    await this.#file?.close()
    await mkdir(dirname(this.#path), { recursive: true })
    this.#file = await open(this.#path, 'w+')
    this.#end = 0
    this.#isStale = false
    return this.#file
  }

  async *#rawRows(
    rows: readonly BufferedRow[],
    origin: PageOrigin,
  ): AsyncGenerator<RawRow, void, undefined> {
    for (const [ordinal, row] of rows.entries()) {
      yield { item: await this.#textOf(row), ordinal, origin }
    }
  }

  async #textOf(row: BufferedRow): Promise<string> {
    return row.text ?? this.#read(row)
  }

  async #read({ start, length }: BufferedRow): Promise<string> {
    const bytes = Buffer.allocUnsafe(length)
    for (let read = 0; read < length;) {
      const found = await this.#file?.read(bytes, read, length - read, start + read)
      if (found === undefined || found.bytesRead === 0) {
        throw new RangeError(`${this.#path} ends before byte ${start + length}`)
      }
      read += found.bytesRead
    }
    return bytes.toString('utf8')
  }
}
