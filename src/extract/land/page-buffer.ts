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

/** A page. Its rows are null if they equal the rows that landed before. */
export type Page = Pick<UsersPage, 'rows' | 'sum'>

/**
 * Stores the pages of one day in a file until they land, so that memory does not grow with the
 * day. Rows are stored as the lines to land, and each page with the cursor of the next, so that
 * a killed run resumes. The file is not synced: pages lost in a power cut are requested again.
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
   * Opens the buffer that an earlier run left, up to its last intact page, or an empty one. Calls
   * `onItem` with its rows, in order.
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

  /** The checksums of every page's rows, in order. */
  get sums(): RowsSum[] {
    return this.#headers.map(({ sum }) => sum)
  }

  /** True when the last page of the day is there. */
  get isComplete(): boolean {
    return this.#headers.at(-1)?.nextCursor === null
  }

  /** Whether any page's rows are omitted from the buffer because they landed before. */
  get arePagesKnown(): boolean {
    return this.#headers.some(({ isKnown }) => isKnown)
  }

  /** Adds a page. The digest does not include known rows. */
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
   * The content to land. It can be read until the buffer is discarded.
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

  /** Removes the file. Until then, another run can resume from its pages. */
  discard(): void {
    if (existsSync(this.#path)) unlinkSync(this.#path)
  }

  /** Reuses one block of memory for all pages. */
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

  /** @throws AppError if the file changed since it was written, or lacks known rows. */
  async #verify(): Promise<void> {
    if (!this.arePagesKnown && (await crc32OfFile(this.#path)) === this.#crc) return
    throw new AppError(`${this.#path}: a page has changed since it was written`, {
      hint: 'The next run continues after the last undamaged page.',
    })
  }
}
