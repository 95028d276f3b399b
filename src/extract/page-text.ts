import { createReadStream } from 'node:fs'
import { crc32 } from 'node:zlib'
import { sliceArray, type ServedRow } from '../client/index.ts'

/** Where a page's rows come from; repeated on every raw row. */
export interface PageOrigin {
  readonly page: number
  /** By the platform's clock, milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly request: string
  readonly requestId: string | null
  readonly runId: string
}

/** What stands beside the rows of a walked page. */
export interface PageMark {
  readonly origin: PageOrigin
  /** What the next page is asked for with; null behind the last page. */
  readonly nextCursor: string | null
  /** What is known of the day's totals; the first page's tells what was, before it was asked for. */
  readonly witness: string
}

/** A page of a part whose bytes are the ones that were written. */
export interface ProvenPage {
  readonly rows: readonly ServedRow[]
  /** The array of the rows, as served. */
  readonly rowsText: string
  readonly mark: PageMark
  /** Where the page ends, in bytes from the part's beginning. */
  readonly end: number
}

const HEAD = '{"bytes":'
const PROOF = ',"proof":"'
const PROOF_LENGTH = `${PROOF}${'0'.repeat(8)}"}`.length
const NEWLINE = 10

/**
 * A page as it stands in a part: a line with its mark, how many bytes of rows
 * follow, and the CRC-32 of both; then the array of its rows, exactly as served.
 *
 * @param roomFor memory of that many bytes, to be written over.
 */
export function pageText(
  rowsText: string,
  mark: PageMark,
  roomFor: (bytes: number) => Buffer,
): Buffer {
  const rows = `${rowsText}\n`
  const rowsBytes = Buffer.byteLength(rows)
  const head = `${HEAD}${rowsBytes},"mark":${JSON.stringify(mark)}`
  const headBytes = Buffer.byteLength(head) + PROOF_LENGTH + 1
  const text = roomFor(headBytes + rowsBytes)
  text.write(rows, headBytes)
  text.write(`${head}${proofOf(text.subarray(headBytes), head)}`)
  return text
}

function proofOf(rows: Uint8Array, head: string): string {
  const sum = crc32(head, crc32(rows))
  return `${PROOF}${sum.toString(16).padStart(8, '0')}"}\n`
}

/**
 * The pages of a part, in order, up to the first that is cut off or not as it
 * was written. Memory holds one page.
 */
export async function* provenPages(path: string): AsyncGenerator<ProvenPage, void, undefined> {
  let held: Buffer = Buffer.alloc(0)
  let end = 0
  const pieces = createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>
  for await (const piece of pieces) {
    held = Buffer.concat([held, piece])
    for (let page = firstOf(held); page !== 'cut off'; page = firstOf(held)) {
      if (page === 'changed') return
      end += page.size
      held = held.subarray(page.size)
      yield { ...page, end }
    }
  }
}

const READ_BYTES = 1024 * 1024

type FirstPage = 'cut off' | 'changed' | (Omit<ProvenPage, 'end'> & { readonly size: number })

function firstOf(bytes: Buffer): FirstPage {
  const begins = bytes.subarray(0, HEAD.length).toString()
  if (!HEAD.startsWith(begins) && !begins.startsWith(HEAD)) return 'changed'
  const headEnd = bytes.indexOf(NEWLINE) + 1
  if (headEnd === 0) return 'cut off'
  const line = bytes.toString('utf8', 0, headEnd)
  const length = /^\d{1,12}(?=,"mark":)/.exec(line.slice(HEAD.length))?.[0]
  if (length === undefined) return 'changed'
  const size = headEnd + Number(length)
  if (size > bytes.byteLength) return 'cut off'
  const rows = bytes.subarray(headEnd, size)
  const head = line.slice(0, -PROOF_LENGTH - 1)
  if (!line.endsWith(proofOf(rows, head))) return 'changed'
  const rowsText = rows.toString('utf8', 0, rows.byteLength - 1)
  return {
    rows: sliceArray(rowsText),
    rowsText,
    mark: JSON.parse(head.slice(head.indexOf(MARK) + MARK.length)) as PageMark,
    size,
  }
}

const MARK = '"mark":'
