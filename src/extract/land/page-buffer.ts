import {
  appendFileSync,
  existsSync,
  mkdirSync,
  truncateSync,
  unlinkSync,
  createReadStream,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { ServedRow } from '../../client/index.ts'
import { AppError } from '../../lib/errors.ts'
import { crc32OfFile } from '../../lib/files.ts'
import {
  type DayContent,
  lineWriter,
  type LineFile,
  RowsDigest,
  FIELD,
  NO_ROW,
  TEXT,
  TEXT_END,
} from './row-lines.ts'
import type { PageOrigin } from '../../lake/raw-days.ts'

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
  /** One block of memory for the text of every page. */
  #memory = Buffer.alloc(0)

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

  get pages(): number {
    return this.#headers.length
  }

  get headers(): readonly PageHeader[] {
    return this.#headers
  }

  /** The cursors that the pages led to, in order. */
  get cursors(): string[] {
    return this.#headers.flatMap(({ nextCursor }) => nextCursor ?? [])
  }

  /** See Interval; null for a single page, which is one snapshot. */
  get witness(): string | null {
    return witnessOf(this.#headers)
  }

  get isComplete(): boolean {
    return this.#headers.at(-1)?.nextCursor === null
  }

  addPage(rows: readonly ServedRow[], header: PageHeader): void {
    const text = this.#pageText(this.#linesOf(rows, header.origin), header)
    appendFileSync(this.#path, text)
    this.#added(header, text)
  }

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
      source: { openFile, sizeAtMost: this.#bytes },
    }
  }

  /** Removes the file. Until then, another run can resume from its pages. */
  discard(): void {
    if (existsSync(this.#path)) unlinkSync(this.#path)
  }

  /** A page as it is in a page buffer (see `verifiedPages`); valid until the next call. */
  #pageText(lines: string, header: PageHeader): Buffer {
    const lineBytes = Buffer.byteLength(lines)
    const head = `${LINE_START}${lineBytes}${HEADER_KEY}${JSON.stringify(header)}`
    const headBytes = Buffer.byteLength(head) + CHECKSUM_LENGTH
    const bytes = headBytes + lineBytes
    if (this.#memory.byteLength < bytes) this.#memory = Buffer.allocUnsafe(bytes)
    const text = this.#memory.subarray(0, bytes)
    text.write(lines, headBytes)
    text.write(`${head}${checksumOf(text.subarray(headBytes), head)}`)
    return text
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

  /** @throws AppError if the file changed since it was written. */
  async #verify(): Promise<void> {
    if ((await crc32OfFile(this.#path)) === this.#crc) return
    throw new AppError(`${this.#path}: a page has changed since it was written`, {
      hint: 'The next run continues after the last undamaged page.',
    })
  }
}

/**
 * The witness of the pages that an earlier run left in a page buffer, which is not changed; null
 * if there is none.
 */
export async function witnessIn(path: string): Promise<string | null> {
  if (!existsSync(path)) return null
  const headers: PageHeader[] = []
  for await (const { header } of verifiedPages(path)) headers.push(header)
  return witnessOf(headers)
}

/** For damaged pages, it is a text that no totals match. */
function witnessOf([first, ...others]: readonly PageHeader[]): string | null {
  if (first?.nextCursor === null && others.length === 0) return null
  return first?.witness ?? ''
}

/** The metadata stored with the rows of a page. */
export interface PageHeader {
  readonly origin: PageOrigin
  /** The cursor for the next page; null on the last page. */
  readonly nextCursor: string | null
  /**
   * The versions of the day's totals when the run began to request pages of the day. Only the first
   * page's is used.
   */
  readonly witness: string
}

/** A page of a page buffer whose checksum is correct. */
interface VerifiedPage {
  /** The rows as served, in order. */
  readonly items: readonly string[]
  readonly header: PageHeader
  /** The page's bytes; valid only until the next page is read. */
  readonly bytes: Uint8Array
}

const LINE_START = `${TEXT}{"bytes":`
const HEADER_KEY = ',"header":'
const CHECKSUM = ',"checksum":"'
const CHECKSUM_LENGTH = `${CHECKSUM}${'0'.repeat(8)}"}${TEXT}${NO_ROW}`.length
const NEWLINE = 10

function checksumOf(lines: Uint8Array, head: string): string {
  const sum = crc32(head, crc32(lines))
  return `${CHECKSUM}${sum.toString(16).padStart(8, '0')}"}${TEXT}${NO_ROW}`
}

/**
 * Reads the pages of a page buffer, in order, up to the first that is truncated or damaged.
 * Holds one page in memory. A page is a line with its header, how many bytes of row lines follow,
 * and the CRC-32 of both; then the lines of its rows. Without the quotes and separators:
 *
 *     {"bytes":1830,"header":{"origin":{"page":1,…},…},"checksum":"1f9e0a2b"}
 *     {"date":"2026-01-14","user_id":"u1",…} 0 1 …
 */
async function* verifiedPages(path: string): AsyncGenerator<VerifiedPage, void, undefined> {
  let held: Buffer = Buffer.alloc(0)
  const pieces = createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>
  for await (const piece of pieces) {
    held = Buffer.concat([held, piece])
    for (let page = firstOf(held); page !== 'cut off'; page = firstOf(held)) {
      if (page === 'changed') return
      held = held.subarray(page.bytes.byteLength)
      yield page
    }
  }
}

const READ_BYTES = 1024 * 1024

function firstOf(bytes: Buffer): 'cut off' | 'changed' | VerifiedPage {
  const begins = bytes.subarray(0, LINE_START.length).toString()
  if (!LINE_START.startsWith(begins) && !begins.startsWith(LINE_START)) return 'changed'
  const headEnd = bytes.indexOf(NEWLINE) + 1
  if (headEnd === 0) return 'cut off'
  const line = bytes.toString('utf8', 0, headEnd)
  const length = /^\d{1,12}(?=,"header":)/.exec(line.slice(LINE_START.length))?.[0]
  if (length === undefined) return 'changed'
  const size = headEnd + Number(length)
  if (size > bytes.byteLength) return 'cut off'
  const lines = bytes.subarray(headEnd, size)
  const head = line.slice(0, -CHECKSUM_LENGTH)
  if (!line.endsWith(checksumOf(lines, head))) return 'changed'
  const header = JSON.parse(head.slice(head.indexOf(HEADER_KEY) + HEADER_KEY.length)) as PageHeader
  const items = [...lines.toString().matchAll(ITEM)].map(([, item = '']) => item)
  return { items, header, bytes: bytes.subarray(0, size) }
}

/** The text of a row: no other field of a line is followed by a number. */
const ITEM = new RegExp(`${TEXT}([^${TEXT}]*)${TEXT_END}\\d+${FIELD}\\d+${FIELD}`, 'g')
