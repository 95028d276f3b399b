import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Day } from '../core/days.ts'

/** Characters that are kept in memory: enough for most answers of a night. */
const MOST_IN_MEMORY = 1024 * 1024

/** A row, or where it is in the file, in bytes. */
interface Spooled {
  text: string | null
  start: number
  length: number
}

/**
 * The rows of one answer by their day, while it is not known whether the answer
 * is whole. The latest are in memory, and those before them in a file, which is
 * worth nothing after a crash.
 */
export class RowSpool {
  readonly #path: string
  #rows = new Map<Day, Spooled[]>()
  #inMemory: Spooled[] = []
  #characters = 0
  #file: FileHandle | undefined
  /** Bytes of the file that hold rows. */
  #end = 0
  #isStale = false

  constructor(path: string) {
    this.#path = path
  }

  async add(day: Day, text: string): Promise<void> {
    const row = { text, start: 0, length: 0 }
    const rows = this.#rows.get(day)
    if (rows === undefined) this.#rows.set(day, [row])
    else rows.push(row)
    this.#inMemory.push(row)
    this.#characters += text.length
    if (this.#characters > MOST_IN_MEMORY) await this.#moveToFile()
  }

  /** In the order in which they came. */
  async rowsOf(day: Day): Promise<string[]> {
    const texts: string[] = []
    for (const row of this.#rows.get(day) ?? []) texts.push(row.text ?? (await this.#read(row)))
    return texts
  }

  /** Forgets all rows. */
  clear(): void {
    this.#rows = new Map()
    this.#inMemory = []
    this.#characters = 0
    this.#isStale = true
  }

  async close(): Promise<void> {
    await this.#file?.close()
    if (this.#file !== undefined) await rm(this.#path, { force: true })
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
    await file.appendFile(Buffer.concat(bytes))
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

  async #read({ start, length }: Spooled): Promise<string> {
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
