import { createReadStream } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { RowsSum } from '../../client/index.ts'
import { FIELD, NO_ROW, TEXT, TEXT_END, type PageOrigin } from './row-lines.ts'

/** The metadata stored with the rows of a page. */
export interface PageHeader {
  readonly origin: PageOrigin
  /** The cursor for the next page; null on the last page. */
  readonly nextCursor: string | null
  /** The version of the day's totals; of the first page, the one before it was requested. */
  readonly witness: string
  /** Of the rows as served. */
  readonly sum: RowsSum
  /** Whether the rows landed before and are therefore not in the buffer. */
  readonly isKnown: boolean
}

/** A page of a page buffer whose checksum is correct. */
export interface VerifiedPage {
  /** The rows as served, in order. */
  readonly items: readonly string[]
  readonly header: PageHeader
  /** The page's bytes; valid only until the next page is read. */
  readonly bytes: Uint8Array
}

const LINE_START = `${TEXT}{"bytes":`
const HEADER_KEY = ',"mark":'
const CHECKSUM = ',"proof":"'
const CHECKSUM_LENGTH = `${CHECKSUM}${'0'.repeat(8)}"}${TEXT}${NO_ROW}`.length
const NEWLINE = 10

/**
 * A page as it is in a page buffer: a line with its header, how many bytes of row lines
 * follow, and the CRC-32 of both; then the lines of its rows. Without the quotes and separators:
 *
 *     {"bytes":1830,"mark":{"origin":{"page":1,…},…},"proof":"1f9e0a2b"}
 *     {"date":"2026-01-14","user_id":"u1",…} 0 1 …
 *
 * @param roomFor returns a buffer of the given size to write into.
 */
export function pageText(
  lines: string,
  header: PageHeader,
  roomFor: (bytes: number) => Buffer,
): Buffer {
  const lineBytes = Buffer.byteLength(lines)
  const head = `${LINE_START}${lineBytes}${HEADER_KEY}${JSON.stringify(header)}`
  const headBytes = Buffer.byteLength(head) + CHECKSUM_LENGTH
  const text = roomFor(headBytes + lineBytes)
  text.write(lines, headBytes)
  text.write(`${head}${checksumOf(text.subarray(headBytes), head)}`)
  return text
}

function checksumOf(lines: Uint8Array, head: string): string {
  const sum = crc32(head, crc32(lines))
  return `${CHECKSUM}${sum.toString(16).padStart(8, '0')}"}${TEXT}${NO_ROW}`
}

/**
 * Reads the pages of a page buffer, in order, up to the first that is truncated or damaged.
 * Holds one page in memory.
 */
export async function* verifiedPages(path: string): AsyncGenerator<VerifiedPage, void, undefined> {
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
  const length = /^\d{1,12}(?=,"mark":)/.exec(line.slice(LINE_START.length))?.[0]
  if (length === undefined) return 'changed'
  const size = headEnd + Number(length)
  if (size > bytes.byteLength) return 'cut off'
  const lines = bytes.subarray(headEnd, size)
  const head = line.slice(0, -CHECKSUM_LENGTH)
  if (!line.endsWith(checksumOf(lines, head))) return 'changed'
  const header = JSON.parse(head.slice(head.indexOf(HEADER_KEY) + HEADER_KEY.length)) as PageHeader
  return { items: itemsOf(lines.toString()), header, bytes: bytes.subarray(0, size) }
}

/** Extracts the texts of the rows: no other field of a line is followed by a number. */
function itemsOf(lines: string): string[] {
  return [...lines.matchAll(ITEM)].map(([, item = '']) => item)
}

const ITEM = new RegExp(`${TEXT}([^${TEXT}]*)${TEXT_END}\\d+${FIELD}\\d+${FIELD}`, 'g')
