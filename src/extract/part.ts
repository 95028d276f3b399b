import { mkdir, open, rm, truncate, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../store/files.ts'
import {
  markLine,
  provenPages,
  rowLine,
  rowLines,
  type PageMark,
  type PageOrigin,
  type RawRow,
} from './part-text.ts'
import { RowsDigest } from './rows-digest.ts'

export type { PageOrigin, RawRow } from './part-text.ts'

/** What a closed part holds. */
export interface PartContent {
  readonly path: string
  readonly rows: number
  /** Bytes of the longest line. */
  readonly longestLine: number
  /** Of the rows, whatever their order. */
  readonly digest: string
  readonly last: PageOrigin
}

/**
 * The rows of one day on their way to the lake: JSON lines aside, page by
 * page, so that memory does not grow with the day. The pages of a walk are
 * durable, each with the cursor that it leads to: a killed walk goes on.
 */
export class Part {
  readonly path: string
  readonly #file: FileHandle
  #digest = new RowsDigest()
  #longestLine = 0
  #first: PageMark | undefined
  #last: PageOrigin | undefined
  #cursors: string[] = []
  #isWhole = false

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  static async create(path: string): Promise<Part> {
    await mkdir(dirname(path), { recursive: true })
    return new Part(path, await open(path, 'w'))
  }

  /**
   * The part that a walk left, up to its last page that is proven to be whole,
   * or an empty one. `onItem` is told the rows that are there, in order.
   */
  static async reopen(path: string, onItem: (item: string) => void): Promise<Part> {
    await mkdir(dirname(path), { recursive: true })
    const part = new Part(path, await open(path, 'a'))
    let end = 0
    for await (const page of provenPages(path)) {
      if (page.mark.origin.page !== part.pages + 1) break
      for (const { item, line } of page.rows) {
        part.#count(item, line)
        onItem(item)
      }
      part.#turn(page.mark)
      end = page.end
    }
    await truncate(path, end)
    return part
  }

  /** Of the rows so far, whatever their order. */
  get digest(): string {
    return this.#digest.value()
  }

  /** Pages so far. */
  get pages(): number {
    return this.#last?.page ?? 0
  }

  /** Of the first walked page; undefined before it. */
  get first(): PageMark | undefined {
    return this.#first
  }

  get last(): PageOrigin | undefined {
    return this.#last
  }

  /** The cursors that the pages led to, in order. */
  get cursors(): readonly string[] {
    return this.#cursors
  }

  /** True when the last page of the walk is there. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Adds the one page of a day. `items` are the JSON texts of its rows, exactly as served. */
  async addPage(items: readonly string[], origin: PageOrigin): Promise<void> {
    const text = this.#rows(items, origin)
    this.#last = origin
    if (text !== '') await this.#file.appendFile(text)
  }

  /** Adds rows of several pages; `last` tells when the day was last asked for. */
  async addRows(rows: readonly RawRow[], last: PageOrigin): Promise<void> {
    this.#last = last
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const lines = rows.slice(start, start + ROWS_AT_ONCE).map((row) => {
        const line = rowLine(row)
        this.#count(row.item, line)
        return line
      })
      await this.#file.appendFile(lines.join(''))
    }
  }

  /**
   * Adds a page of a walk. With a next cursor it is durable when the promise
   * resolves: only then may the next page be asked for. The last page, whose
   * next cursor is null, is landed at once.
   */
  async addWalkedPage(items: readonly string[], mark: PageMark): Promise<void> {
    const rows = Buffer.from(this.#rows(items, mark.origin))
    await this.#file.appendFile(Buffer.concat([rows, Buffer.from(markLine(rows, mark))]))
    if (mark.nextCursor !== null) {
      await this.#file.datasync()
      if (this.pages === 0) await syncFolder(dirname(this.path))
    }
    this.#turn(mark)
  }

  /** Forgets every page. */
  async restart(): Promise<void> {
    await truncate(this.path, 0)
    this.#digest = new RowsDigest()
    this.#longestLine = 0
    this.#first = undefined
    this.#last = undefined
    this.#cursors = []
    this.#isWhole = false
  }

  /** Ends the writing. @throws RangeError when no page was added. */
  async close(): Promise<PartContent> {
    await this.#file.close()
    if (this.#last === undefined) throw new RangeError(`${this.path}: a part without a page`)
    return {
      path: this.path,
      rows: this.#digest.rows,
      longestLine: this.#longestLine * MAX_BYTES_PER_CHAR,
      digest: this.#digest.value(),
      last: this.#last,
    }
  }

  /** Leaves the pages for the run that goes on with them. */
  async keep(): Promise<void> {
    if (this.pages === 0) await this.discard()
    else await this.#file.close()
  }

  async discard(): Promise<void> {
    await this.#file.close()
    await rm(this.path, { force: true })
  }

  #rows(items: readonly string[], origin: PageOrigin): string {
    const lines = rowLines(items, origin)
    for (const [index, line] of lines.entries()) this.#count(items[index] ?? '', line)
    return lines.join('')
  }

  #count(item: string, line: string): void {
    this.#longestLine = Math.max(this.#longestLine, line.length)
    this.#digest.add(item)
  }

  #turn(mark: PageMark): void {
    this.#first ??= mark
    this.#last = mark.origin
    if (mark.nextCursor === null) this.#isWhole = true
    else this.#cursors.push(mark.nextCursor)
  }
}

/** Rows of a few kilobytes: as much text as is written at once. */
const ROWS_AT_ONCE = 1_000

/** UTF-8 bytes that one UTF-16 unit of a string takes, at most. */
const MAX_BYTES_PER_CHAR = 3
