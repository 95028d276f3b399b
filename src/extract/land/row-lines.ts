import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Day } from '../../lib/days.ts'
import type { PageOrigin, RawRow } from '../../lake/raw-days.ts'
import { hash } from 'node:crypto'

/** A file of row lines, which sql/raw/lines.sql reads. */
export interface LineFile {
  readonly path: string
  /** Bytes of the longest line, or more. */
  readonly longestLine: number
}

/**
 * The field separator of a line, and the quote around texts. JSON text contains no control
 * characters except white space (RFC 8259), so each row keeps its served text.
 */
export const FIELD = '\x01'
export const TEXT = '\x02'

/** The end of a row's text in its line. */
export const TEXT_END = `${TEXT}${FIELD}`

/** The empty fields after `item` in a line that is not a row: the columns of sql/raw/lines.sql. */
export const NO_ROW = `${FIELD.repeat(6)}\n`

/**
 * Returns a function that writes rows as lines with their origin; rows of a page are passed one
 * after the other. `day` is appended to each line in a file of several days.
 */
export function lineWriter(day?: Day): (row: RawRow) => string {
  let last: PageOrigin | undefined
  let end = ''
  return ({ item, ordinal, origin }) => {
    if (origin !== last) end = originText(origin, day)
    last = origin
    return `${TEXT}${item}${TEXT_END}${ordinal}${end}`
  }
}

function originText(
  { page, fetchedAt, request, requestId, runId }: PageOrigin,
  day: Day | undefined,
): string {
  const time = new Date(fetchedAt).toISOString()
  const fields = [String(page), time, quoted(request), quoted(requestId), quoted(runId)]
  if (day !== undefined) fields.push(day)
  return `${FIELD}${fields.join(FIELD)}\n`
}

/** Quotes a text, since a server's header may contain the field separator. */
function quoted(text: string | null): string {
  return text === null ? '' : `${TEXT}${text.replaceAll(TEXT, TEXT + TEXT)}${TEXT}`
}

/** Characters that are written at once. */
const PIECE = 256 * 1024

export interface DayRows {
  readonly day: Day
  readonly rows: Iterable<RawRow>
}

/** Writes a new file of lines, each ending with its day. */
export function writeLines(path: string, days: readonly DayRows[]): LineFile {
  mkdirSync(dirname(path), { recursive: true })
  let longestLine = 0
  let piece = ''
  for (const { day, rows } of days) {
    const lineOf = lineWriter(day)
    for (const row of rows) {
      const line = lineOf(row)
      longestLine = Math.max(longestLine, Buffer.byteLength(line))
      piece += line
      if (piece.length < PIECE) continue
      appendFileSync(path, piece)
      piece = ''
    }
  }
  appendFileSync(path, piece)
  return { path, longestLine }
}

const LANES = 8

/**
 * An order-independent digest of rows, which may repeat. The SHA-256 hashes of the rows are
 * added up lane by lane, so the memory it takes does not depend on the number of rows.
 */
export class RowsDigest {
  rows = 0
  readonly #lanes = new Uint32Array(LANES)

  /** Adds a row: its JSON text exactly as served. */
  add(row: string): void {
    this.rows += 1
    const bytes = hash('sha256', row, 'binary')
    for (let lane = 0; lane < LANES; lane += 1) {
      const at = lane * 4
      const word =
        bytes.charCodeAt(at) |
        (bytes.charCodeAt(at + 1) << 8) |
        (bytes.charCodeAt(at + 2) << 16) |
        (bytes.charCodeAt(at + 3) << 24)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + word
    }
  }

  /** Hex, 64 characters. */
  value(): string {
    return digestOf(this.rows, [...this.#lanes])
  }
}

/** The digest for sums of row hashes (sql/raw/versions.sql computes the same sums). */
export function digestOf(rows: number, lanes: readonly number[]): string {
  return hash('sha256', `${rows}:${lanes.join(',')}`)
}

/** A day as the platform served it, ready to be landed. */
export interface ServedDay {
  readonly day: Day
  readonly content: DayContent
  /** The number of users if a user can be served twice; default: the number of rows. */
  readonly rowCount?: number
  /** How large the day is (see `sizeOf`); default: `rowCount`. */
  readonly size?: number
}

/** The rows of one day. */
export interface DayContent {
  /** Digest of the rows, independent of their order. */
  readonly digest: string
  readonly count: number
  /** The origin of the last response for the day. */
  readonly last: PageOrigin
  /** The source of the rows; it is read only if they are new. */
  readonly source: RowSource
}

/** Rows in order, or a file that already contains them as lines. */
type RowSource = {
  /** The number of characters of all rows, or more, such as their bytes. */
  readonly sizeAtMost: number
} & ({ readonly rows: () => Iterable<RawRow> } | { readonly openFile: () => Promise<LineFile> })

export function contentOf(rows: readonly RawRow[], last: PageOrigin): DayContent {
  const digest = new RowsDigest()
  let sizeAtMost = 0
  for (const { item } of rows) {
    digest.add(item)
    sizeAtMost += item.length
  }
  const source = { rows: () => rows, sizeAtMost }
  return { digest: digest.value(), count: rows.length, last, source }
}
