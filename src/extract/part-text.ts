import { createHash, type BinaryLike } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** Where a page's rows come from; repeated on every raw row. */
export interface PageOrigin {
  readonly page: number
  /** By the platform's clock, milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly request: string
  readonly requestId: string | null
  readonly runId: string
}

/** What stands behind the rows of a walked page. */
export interface PageMark {
  readonly origin: PageOrigin
  /** What the next page is asked for with; null behind the last page. */
  readonly nextCursor: string | null
  /** What is known of the day's totals; the first page's tells what was, before it was asked for. */
  readonly witness: string
}

/** A page of a part whose bytes are the ones that were written. */
export interface ProvenPage {
  readonly rows: readonly { readonly item: string; readonly line: string }[]
  readonly mark: PageMark
  /** Where the page ends, in bytes from the part's beginning. */
  readonly end: number
}

/** A row as it is in the lake: its JSON text, and where it comes from. */
export interface RawRow {
  readonly item: string
  readonly ordinal: number
  readonly origin: PageOrigin
}

/** Rows as lines of a part. An item is the row's JSON text, exactly as served. */
export function rowLines(items: readonly string[], origin: PageOrigin): string[] {
  const end = originText(origin)
  return items.map((item, ordinal) => lineText(item, ordinal, end))
}

/** A row of any origin as a line of a part. */
export function rowLine({ item, ordinal, origin }: RawRow): string {
  return lineText(item, ordinal, originText(origin))
}

function originText(origin: PageOrigin): string {
  const { page, fetchedAt, request, requestId, runId } = origin
  const fields = {
    page,
    fetched_at: new Date(fetchedAt).toISOString(),
    request,
    request_id: requestId,
    run_id: runId,
  }
  return `,${JSON.stringify(fields).slice(1)}\n`
}

function lineText(item: string, ordinal: number, end: string): string {
  return `{"item":${JSON.stringify(item)},"ordinal":${ordinal}${end}`
}

const MARK = '{"item":null,"mark":'
const PROOF = ',"proof":"'
const PROOF_LENGTH = `${PROOF}${'0'.repeat(64)}"}`.length

/**
 * The line that ends a walked page: a line without an item, which sql/land.sql
 * passes over. It carries the SHA-256 of the page, of its rows and of itself.
 */
export function markLine(rows: Buffer, mark: PageMark): string {
  const text = `${MARK}${JSON.stringify(mark)}`
  return `${text}${proofOf(rows, text)}`
}

function proofOf(rows: BinaryLike, mark: string): string {
  return `${PROOF}${createHash('sha256').update(rows).update(mark).digest('hex')}"}\n`
}

/**
 * The walked pages of a part, in order, up to the first that is cut off or not
 * as it was written. Memory holds one page.
 */
export async function* provenPages(path: string): AsyncGenerator<ProvenPage, void, undefined> {
  let lines: string[] = []
  let end = 0
  for await (const bytes of linesOf(path)) {
    end += bytes.byteLength
    const line = bytes.toString('utf8')
    if (!line.startsWith(MARK)) {
      lines.push(line)
      continue
    }
    const text = line.slice(0, -PROOF_LENGTH - 1)
    if (!line.endsWith(proofOf(lines.join(''), text))) return
    const rows = lines.map((row) => ({
      item: (JSON.parse(row) as { item: string }).item,
      line: row,
    }))
    yield { rows, mark: JSON.parse(text.slice(MARK.length)) as PageMark, end }
    lines = []
  }
}

const NEWLINE = 10

/** The lines of a file with their newlines, by bytes: text may hold other ends of lines. */
async function* linesOf(path: string): AsyncGenerator<Buffer, void, undefined> {
  let pieces: Buffer[] = []
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...pieces, chunk.subarray(start, at + 1)])
      pieces = []
      start = at + 1
    }
    pieces.push(chunk.subarray(start))
  }
}
