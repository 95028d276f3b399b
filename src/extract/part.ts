import { mkdir, open, rm, truncate, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sumOf, type RowsSum, type ServedRow, type UsersPage } from '../client/index.ts'
import { AppError } from '../core/errors.ts'
import { syncFolder } from '../store/files.ts'
import type { DayContent } from './day-content.ts'
import {
  pageText,
  provenPages,
  type PageMark,
  type PageOrigin,
  type ProvenPage,
} from './page-text.ts'
import type { RawRow } from './row-lines.ts'
import { RowsDigest } from './rows-digest.ts'

/** The array of a page's rows as served, and the rows; null where they are known. */
export type Page = Pick<UsersPage, 'rows' | 'rowsText' | 'sum'>

/**
 * The pages of one walked day on their way to the lake: aside, so that memory
 * does not grow with the day, and durable, each with the cursor that it leads
 * to: a killed walk goes on.
 */
export class Part {
  readonly #path: string
  readonly #file: FileHandle
  #digest = new RowsDigest()
  #first: PageMark | undefined
  #last: PageOrigin | undefined
  #cursors: string[] = []
  #sums: RowsSum[] = []
  #isWhole = false
  #room = Buffer.alloc(0)

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /**
   * The part that a walk left, up to its last page that is proven to be whole,
   * or an empty one. `onRow` is told the rows that are there, in order.
   */
  static async open(path: string, onRow: (row: ServedRow) => void): Promise<Part> {
    await mkdir(dirname(path), { recursive: true })
    const part = new Part(path, await open(path, 'a'))
    let end = 0
    for await (const page of provenPages(path)) {
      if (page.mark.origin.page !== part.pages + 1) break
      for (const row of page.rows) part.#takeIn(row, onRow)
      part.#turn(page.mark, sumOf(page.rowsText, page.rows.length))
      end = page.end
    }
    await truncate(path, end)
    return part
  }

  /** Pages so far. */
  get pages(): number {
    return this.#last?.page ?? 0
  }

  /** Of the first page; undefined before it. */
  get first(): PageMark | undefined {
    return this.#first
  }

  /** The cursors that the pages led to, in order. */
  get cursors(): readonly string[] {
    return this.#cursors
  }

  /** How the pages came, in order. */
  get sums(): readonly RowsSum[] {
    return this.#sums
  }

  /** True when the last page of the walk is there. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /**
   * Adds a page. Rows that are known, and so not told, are not in the digest. With a
   * next cursor it is durable when the promise resolves: only then may the next
   * page be asked for. The last page, whose next cursor is null, is landed at once.
   */
  async addPage({ rows, rowsText, sum }: Page, mark: PageMark): Promise<void> {
    for (const { text } of rows ?? []) this.#digest.add(text)
    await this.#file.appendFile(pageText(rowsText, mark, (bytes) => this.#roomFor(bytes)))
    if (mark.nextCursor !== null) {
      await this.#file.datasync()
      if (this.pages === 0) await syncFolder(dirname(this.#path))
    }
    this.#turn(mark, sum)
  }

  /**
   * Reads the rows of all pages once more, for the digest too: some were added as known.
   *
   * @throws AppError when not every page is as it was written.
   */
  async readAgain(onRow: (row: ServedRow) => void): Promise<void> {
    this.#digest = new RowsDigest()
    for await (const { rows } of wholePages(this.#path, this.pages)) {
      for (const row of rows) this.#takeIn(row, onRow)
    }
  }

  /** Forgets every page. */
  async restart(): Promise<void> {
    await truncate(this.#path, 0)
    this.#digest = new RowsDigest()
    this.#first = undefined
    this.#last = undefined
    this.#cursors = []
    this.#sums = []
    this.#isWhole = false
  }

  /**
   * What is to be landed, read from the part as long as it is there.
   *
   * @throws RangeError when no page was added.
   */
  get content(): DayContent {
    if (this.#last === undefined) throw new RangeError(`${this.#path}: a part without a page`)
    const { rows: count } = this.#digest
    const rows = rowsIn(this.#path, this.pages)
    return { digest: this.#digest.value(), count, last: this.#last, rows }
  }

  #takeIn(row: ServedRow, onRow: (row: ServedRow) => void): void {
    this.#digest.add(row.text)
    onRow(row)
  }

  /** Leaves the pages for the run that goes on with them. */
  async keep(): Promise<void> {
    if (this.pages === 0) await this.discard()
    else await this.#file.close()
  }

  async discard(): Promise<void> {
    await this.#file.close()
    await rm(this.#path, { force: true })
  }

  /** One piece of memory for page after page. */
  #roomFor(bytes: number): Buffer {
    if (this.#room.byteLength < bytes) this.#room = Buffer.allocUnsafe(bytes)
    return this.#room.subarray(0, bytes)
  }

  #turn(mark: PageMark, sum: RowsSum): void {
    this.#sums.push(sum)
    this.#first ??= mark
    this.#last = mark.origin
    if (mark.nextCursor === null) this.#isWhole = true
    else this.#cursors.push(mark.nextCursor)
  }
}

async function* rowsIn(path: string, pages: number): AsyncGenerator<RawRow, void, undefined> {
  for await (const { rows, mark } of wholePages(path, pages)) {
    for (const [ordinal, { text }] of rows.entries()) {
      yield { item: text, ordinal, origin: mark.origin }
    }
  }
}

/** @throws AppError when not every page is as it was written. */
async function* wholePages(
  path: string,
  pages: number,
): AsyncGenerator<ProvenPage, void, undefined> {
  let read = 0
  for await (const page of provenPages(path)) {
    read += 1
    yield page
  }
  if (read === pages) return
  throw new AppError(`${path}: page ${read + 1} of ${pages} is not as it was written`, {
    hint: 'The next run goes on from the page before it.',
  })
}
