import { isDay } from '../../lib/days.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  fieldOf,
  isTooDeep,
  OPEN_BRACE,
  OPEN_BRACKET,
  openValue,
  QUOTE,
  valueEnd,
  type OpenValue,
} from '../../lib/json.ts'
import { kindOf } from '../../lib/text.ts'

/** One row of a response: its text exactly as served, and the parsed value. */
export interface ServedRow {
  readonly text: string
  readonly value: unknown
}

/** Where the rows of a response are: in an array of the object, or the response is the array. */
export type RowsAt = { readonly key: string } | 'array'

export interface Envelope {
  readonly rows: readonly ServedRow[]
  /** The document with the array of the rows emptied. */
  readonly rest: unknown
}

/**
 * Cuts a complete response at the boundaries of its rows (see RowScanner). Parses each row,
 * and the rest with the array emptied, which would reveal a wrong cut.
 *
 * @throws SyntaxError if the text is not JSON, not an object, or has no such array.
 */
export function sliceEnvelope(text: string, rowsAt: RowsAt = { key: 'data' }): Envelope {
  const scanner = new RowScanner(rowsAt)
  const rows = scanner.readWhole(text)
  return { rows, rest: scanner.end() }
}

/** A response that is one row. @throws SyntaxError if it is no object. */
export function sliceWhole(text: string): ServedRow {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{')) throw new SyntaxError('the response is not an object')
  valueEnd(openValue(), trimmed) // throws for a value that is nested too deep
  return { text: trimmed, value: servedRow(text).value }
}

/**
 * Checks the metadata of an analytics response: the range in `meta`, if there is one, is the requested
 * one, and a page of users has a `meta`, to say whether it is the last. Otherwise a stale cache, or
 * a platform that silently cuts a wide range, would make days look empty without an error.
 *
 * `path` is path and query of the request; `rest` is the document without its rows.
 * @throws SyntaxError
 */
export function validateMetadata(path: string, rest: unknown): void {
  const { pathname, searchParams } = new URL(path, 'http://platform')
  const meta = fieldOf(rest, 'meta')
  for (const [field, parameter] of RANGE) {
    const claimed = fieldOf(meta, field)
    const asked = searchParams.get(parameter)
    if (typeof claimed !== 'string' || claimed.slice(0, 10) === asked) continue
    const day = claimed.slice(0, 10)
    const shown = isDay(day) ? day : kindOf(claimed)
    throw new SyntaxError(`'meta.${field}' is ${shown}, but ${asked ?? 'none'} was asked for`)
  }
  const isPage = pathname.endsWith('/users') || searchParams.has('limit')
  if (isPage && (typeof meta !== 'object' || meta === null)) {
    throw new SyntaxError("there is no 'meta': is this the last page?")
  }
}

const RANGE = [
  ['start_date', 'startDate'],
  ['end_date', 'endDate'],
] as const

/** Stands for a value in place of punctuation. */
const VALUE = 'value'

/** The part received so far of a value. */
interface Begun extends OpenValue {
  readonly isScalar: boolean
  text: string
}

/**
 * Cuts a response at the boundaries of its rows while it comes, in pieces of any
 * length, so that every row keeps its bytes: number spellings, key order, escapes
 * (law 1). Memory holds one row and the text around the rows. The scanner only finds
 * the ends of values: the caller parses each row, and `end` parses the rest.
 */
export class RowScanner {
  readonly #rowsAt: RowsAt
  #open: Begun | null = null
  /** The last punctuation between values; empty before the first one. */
  #last = ''
  #key = ''
  #areRowsMet = false
  #isInRows = false
  #isEnded = false
  /** The document with the array of the rows emptied. */
  #rest = ''
  /** The number of characters before the current piece. */
  #read = 0

  constructor(rowsAt: RowsAt) {
    this.#rowsAt = rowsAt
  }

  /** Returns the texts of the rows that end in the piece. @throws SyntaxError */
  write(piece: string): string[] {
    const rows: string[] = []
    for (let at = 0; at < piece.length;) at = this.#advance(piece, at, rows)
    this.#read += piece.length
    return rows
  }

  /** Returns the parsed rows of a complete response. @throws SyntaxError */
  readWhole(text: string): ServedRow[] {
    const rows: ServedRow[] = []
    const found: string[] = []
    for (let at = 0; at < text.length;) {
      const flat = this.#isAtRow ? flatRow(text, at) : undefined
      if (flat === undefined) at = this.#advance(text, at, found)
      else {
        rows.push(flat)
        this.#last = VALUE
        at += flat.text.length
      }
      for (const row of found.splice(0)) rows.push(servedRow(row))
    }
    this.#read += text.length
    return rows
  }

  /**
   * Returns the document with the array of the rows emptied.
   *
   * @throws SyntaxError if the response was cut off, is not JSON around its rows, or has no array of rows.
   */
  end(): unknown {
    if (!this.#isEnded) {
      throw new SyntaxError(`the response ends early, after ${this.#read} characters`)
    }
    if (!this.#areRowsMet) throw this.#noRows()
    return parseQuietly(this.#rest)
  }

  get #isAtRowsValue(): boolean {
    if (this.#rowsAt === 'array') return this.#last === ''
    return this.#last === ':' && !this.#isInRows && this.#key === this.#rowsAt.key
  }

  get #isAtRow(): boolean {
    return this.#open === null && this.#isInRows && this.#last !== VALUE
  }

  #advance(text: string, at: number, rows: string[]): number {
    if (this.#open !== null) return this.#continueValue(this.#open, text, at, rows)
    if (isSpace(text.charCodeAt(at))) return at + 1
    if (this.#isAtRowsValue) this.#beginRows(text.charAt(at))
    else if (this.#isInRows) return this.#stepInRows(text, at)
    else return this.#stepAround(text, at)
    return at + 1
  }

  #beginRows(character: string): void {
    // JSON.parse would take the last of repeated names, but the rows of the first were returned
    if (this.#areRowsMet) throw new SyntaxError(`the response has '${this.#key}' twice`)
    if (character !== '[') throw this.#noRows()
    this.#areRowsMet = true
    this.#isInRows = true
    this.#last = '['
  }

  #stepInRows(text: string, at: number): number {
    const character = text.charAt(at)
    if (character === ']' && this.#last !== ',') {
      this.#isInRows = false
      this.#isEnded = this.#rowsAt === 'array'
      this.#rest += '[]'
      this.#last = VALUE
    } else if (this.#last !== VALUE) return this.#begin(text, at)
    else if (character === ',') this.#last = character
    else throw this.#unexpected(text, at)
    return at + 1
  }

  /** Around the rows, only names have to be found: `end` parses this text. */
  #stepAround(text: string, at: number): number {
    const character = text.charAt(at)
    const isFirst = this.#last === ''
    if (this.#isEnded || (isFirst && character !== '{')) throw this.#unexpected(text, at)
    if (!isFirst && !':,}'.includes(character)) {
      // without the white space between them, two numbers would be one
      if (this.#last === VALUE) throw this.#unexpected(text, at)
      return this.#begin(text, at)
    }
    this.#isEnded = character === '}'
    this.#rest += character
    this.#last = character
    return at + 1
  }

  /** A value begins at `at`. Returns `at`. */
  #begin(text: string, at: number): number {
    const code = text.charCodeAt(at)
    if (isBoundary(code)) throw this.#unexpected(text, at)
    const isScalar = code !== QUOTE && code !== OPEN_BRACE && code !== OPEN_BRACKET
    this.#open = { ...openValue(), isScalar, text: '' }
    return at
  }

  /** Continues a value. Returns the index after it, or after the piece. */
  #continueValue(value: Begun, text: string, at: number, rows: string[]): number {
    const end = value.isScalar ? scalarEnd(text, at) : valueEnd(value, text, at)
    value.text += text.slice(at, end < 0 ? text.length : end)
    if (end < 0) return text.length
    this.#open = null
    if (this.#isInRows) rows.push(value.text)
    else {
      this.#rest += value.text
      if (this.#last !== ':') this.#key = String(parseQuietly(value.text))
    }
    this.#last = VALUE
    return end
  }

  #noRows(): SyntaxError {
    const rowsAt = this.#rowsAt
    const what = rowsAt === 'array' ? 'is not an array' : `has no array '${rowsAt.key}'`
    return new SyntaxError(`the response ${what}`)
  }

  #unexpected(text: string, at: number): SyntaxError {
    const found = JSON.stringify(text.charAt(at))
    return new SyntaxError(`unexpected ${found} at character ${this.#read + at} of the response`)
  }
}

/** @throws SyntaxError if the text is not JSON. */
export function servedRow(text: string): ServedRow {
  return { text, value: parseQuietly(text) }
}

/**
 * The object at `at` if it ends at the next brace, as most rows do, which hold no other
 * object. Parsing proves that, and is faster than searching for the end.
 */
function flatRow(text: string, at: number): ServedRow | undefined {
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined
  const row = text.slice(at, text.indexOf('}', at) + 1)
  if (row.includes('{', 1) || isTooDeep(row)) return undefined
  try {
    return { text: row, value: JSON.parse(row) as unknown }
  } catch {
    return undefined // the brace is in a string, or nothing ends here
  }
}

function scalarEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) if (isBoundary(text.charCodeAt(at))) return at
  return -1
}

function isBoundary(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE || isSpace(code)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

/** The error does not quote the response, which may hold secrets. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError(`the response is not valid JSON (${text.length} characters)`)
  }
}
