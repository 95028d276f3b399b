import { appendFileSync, existsSync, mkdirSync, truncateSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { RowsSum, ServedRow, UsersPage } from '../../client/index.ts'
import { AppError } from '../../lib/errors.ts'
import { crc32OfFile } from '../../lib/files.ts'
import {
  type DayContent,
  lineWriter,
  type LineFile,
  type PageOrigin,
  RowsDigest,
} from './row-lines.ts'
import { pageText, verifiedPages, type PageHeader } from './page-format.ts'

/** The rows of a page; null where they are the ones that were landed before. */
export type Page = Pick<UsersPage, 'rows' | 'sum'>

/**
 * The pages of one day on their way to the lake: in a file, so that memory
 * does not grow with the day, and as the lines that are landed, each page with
 * the cursor that it leads to: a killed run resumes. The pages that a power cut takes are
 * asked for again.
 */
export class PageBuffer {
  readonly #path: string
  readonly #lineOf = lineWriter()
  #digest = new RowsDigest()
  #headers: PageHeader[] = []
  #longestLine = 0
  #bytes = 0
  #crc = 0
  #room = Buffer.alloc(0)

  private constructor(path: string) {
    this.#path = path
  }

  /**
   * The buffer that an earlier run left, up to its last page that is as it was
   * written, or an empty one. `onItem` is called with its rows, in order.
   */
  static async open(path: string, onItem: (item: string) => void): Promise<PageBuffer> {
    const buffer = new PageBuffer(path)
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) return buffer
    for await (const { items, header, bytes } of verifiedPages(path)) {
      if (header.origin.page !== buffer.pages + 1) break
      for (const item of items) {
        buffer.#digest.add(item)
        onItem(item)
      }
      buffer.#added(header, bytes)
    }
    truncateSync(path, buffer.#bytes)
    return buffer
  }

  /** Pages so far. */
  get pages(): number {
    return this.#headers.length
  }

  /** Of every page, in order. */
  get headers(): readonly PageHeader[] {
    return this.#headers
  }

  /** The cursors that the pages led to, in order. */
  get cursors(): string[] {
    return this.#headers.flatMap(({ nextCursor }) => nextCursor ?? [])
  }

  /** The checksum of each page's rows, in order. */
  get sums(): RowsSum[] {
    return this.#headers.map(({ sum }) => sum)
  }

  /** True when the last page of the day is there. */
  get isComplete(): boolean {
    return this.#headers.at(-1)?.nextCursor === null
  }

  /** Whether the rows of a page are not in the buffer, because they landed before. */
  get arePagesKnown(): boolean {
    return this.#headers.some(({ isKnown }) => isKnown)
  }

  /** Adds a page. Rows that are known are not in the digest. */
  addPage(
    { rows, sum }: Page,
    header: Pick<PageHeader, 'origin' | 'nextCursor' | 'witness'>,
  ): void {
    const lines = this.#linesOf(rows ?? [], header.origin)
    const whole = { ...header, sum, isKnown: rows === null }
    const text = pageText(lines, whole, (bytes) => this.#roomFor(bytes))
    appendFileSync(this.#path, text)
    this.#added(whole, text)
  }

  /** Forgets every page. */
  restart(): void {
    this.discard()
    this.#digest = new RowsDigest()
    this.#headers = []
    this.#crc = 0
    this.#bytes = 0
    this.#longestLine = 0
  }

  /**
   * What is to be landed, from the buffer as long as it is there.
   *
   * @throws RangeError when no page was added.
   */
  get content(): DayContent {
    const last = this.#headers.at(-1)?.origin
    if (last === undefined) throw new RangeError(`${this.#path}: a page buffer without a page`)
    const { rows: count } = this.#digest
    const openFile = async (): Promise<LineFile> => {
      await this.#verify()
      return { path: this.#path, longestLine: this.#longestLine }
    }
    return {
      digest: this.#digest.value(),
      count,
      last,
      source: { openFile, characters: this.#bytes },
    }
  }

  /** Removes the file; until then its pages are there for a run that goes on with them. */
  discard(): void {
    if (existsSync(this.#path)) unlinkSync(this.#path)
  }

  /** One piece of memory for page after page. */
  #roomFor(bytes: number): Buffer {
    if (this.#room.byteLength < bytes) this.#room = Buffer.allocUnsafe(bytes)
    return this.#room.subarray(0, bytes)
  }

  #linesOf(rows: readonly ServedRow[], origin: PageOrigin): string {
    let lines = ''
    for (const [ordinal, { text }] of rows.entries()) {
      this.#digest.add(text)
      lines += this.#lineOf({ item: text, ordinal, origin })
    }
    return lines
  }

  #added(header: PageHeader, bytes: Uint8Array): void {
    this.#headers.push(header)
    this.#crc = crc32(bytes, this.#crc)
    this.#bytes += bytes.byteLength
    this.#longestLine = Math.max(this.#longestLine, bytes.byteLength)
  }

  /** @throws AppError when the file is not as it was written, or its rows are elsewhere. */
  async #verify(): Promise<void> {
    if (!this.arePagesKnown && (await crc32OfFile(this.#path)) === this.#crc) return
    throw new AppError(`${this.#path}: a page has changed since it was written`, {
      hint: 'The next run continues after the last undamaged page.',
    })
  }
}
