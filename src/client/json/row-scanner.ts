import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isTooDeep,
  OPEN_BRACE,
  OPEN_BRACKET,
  openValue,
  QUOTE,
  valueEnd,
  type OpenValue,
} from '../../lib/json.ts'

/** One row of an answer: its text exactly as served, and the parsed value. */
export interface ServedRow {
  readonly text: string
  readonly value: unknown
}

/** Where the rows of an answer are: in an array of the object, or the answer is the array. */
export type RowsAt = { readonly key: string } | 'array'

/** The state outside of a value: what may come next. */
type Place =
  | 'root'
  | 'key or end'
  | 'key'
  | 'colon'
  | 'value'
  | 'comma or end'
  | 'row or end'
  | 'row'
  | 'comma or end of rows'
  | 'end'

/** The next state after each character that does not begin a value. */
const TURNS: Readonly<Record<Place, Readonly<Record<string, Place>>>> = {
  root: { '{': 'key or end' },
  'key or end': { '}': 'end' },
  key: {},
  colon: { ':': 'value' },
  value: {},
  'comma or end': { ',': 'key', '}': 'end' },
  'row or end': { ']': 'comma or end' },
  row: {},
  'comma or end of rows': { ',': 'row', ']': 'comma or end' },
  end: {},
}

/** The states in which a value may begin: a name, a value or a row. */
const BEFORE_VALUE: ReadonlySet<Place> = new Set([
  'key or end',
  'key',
  'value',
  'row or end',
  'row',
])

/** The part received so far of a value. */
interface Begun extends OpenValue {
  readonly isScalar: boolean
  text: string
}

/**
 * Cuts an answer at the boundaries of its rows while it comes, in pieces of any
 * length, so that every row keeps its bytes: number spellings, key order, escapes
 * (law 1). Memory holds one row and the text around the rows. The scanner only finds
 * the ends of values: the caller parses each row, and `end` parses the rest.
 */
export class RowScanner {
  readonly #rowsAt: RowsAt
  #place: Place = 'root'
  #open: Begun | null = null
  #key = ''
  #areRowsMet = false
  /** The document with the array of the rows emptied. */
  #rest = ''
  /** The number of characters before the current piece. */
  #read = 0
  #rowsBegin = 0
  #rowsEnd = 0

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

  /** Returns the parsed rows of a complete answer. @throws SyntaxError */
  readWhole(text: string): ServedRow[] {
    const rows: ServedRow[] = []
    const found: string[] = []
    for (let at = 0; at < text.length;) {
      const flat = this.#isAtRow ? flatRow(text, at) : undefined
      if (flat === undefined) at = this.#advance(text, at, found)
      else {
        rows.push(flat)
        this.#place = 'comma or end of rows'
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
   * @throws SyntaxError if the answer was cut off, is not JSON around its rows, or has no array of rows.
   */
  end(): unknown {
    if (this.#place !== 'end') {
      throw new SyntaxError(`the answer ends early, after ${this.#read} characters`)
    }
    if (!this.#areRowsMet) throw this.#noRows()
    return parseQuietly(this.#rest)
  }

  /** Whether the array of the rows is what comes next. */
  get isBeforeRows(): boolean {
    return this.#isAtRowsValue && !this.#areRowsMet
  }

  /** Begin and end of the array of the rows, in characters. */
  get rowsSpan(): readonly [begin: number, end: number] {
    return [this.#rowsBegin, this.#rowsEnd]
  }

  get #name(): string {
    return this.#rowsAt === 'array' ? '' : this.#rowsAt.key
  }

  get #isAtRowsValue(): boolean {
    return this.#place === 'value' && this.#key === this.#name
  }

  get #isAtRow(): boolean {
    return this.#open === null && this.#place.startsWith('row')
  }

  #advance(text: string, at: number, rows: string[]): number {
    if (this.#open !== null) return this.#goOn(this.#open, text, at, rows)
    return isSpace(text.charCodeAt(at)) ? at + 1 : this.#step(text, at)
  }

  /** The character at `at` changes the state, or begins a value. Returns the index after it, or of the value. */
  #step(text: string, at: number): number {
    const sign = text.charAt(at)
    const isWholeArray = this.#rowsAt === 'array'
    if (isWholeArray ? this.#place === 'root' : this.#isAtRowsValue) {
      // JSON.parse would take the last of repeated names, but the rows of the first were handed on
      if (this.#areRowsMet) throw new SyntaxError(`the answer has '${this.#name}' twice`)
      if (sign !== '[') throw this.#noRows()
      this.#areRowsMet = true
      this.#rowsBegin = this.#read + at
      return this.#turn('row or end', sign, at)
    }
    const next = TURNS[this.#place][sign]
    if (next === undefined) return this.#begin(text, at)
    if (sign === ']') {
      this.#rowsEnd = this.#read + at + 1
      return this.#turn(isWholeArray ? 'end' : next, sign, at)
    }
    return this.#turn(next, next === 'row' ? '' : sign, at)
  }

  /** `rest`: the text to add to the document around the rows. */
  #turn(place: Place, rest: string, at: number): number {
    this.#rest += rest
    this.#place = place
    return at + 1
  }

  #begin(text: string, at: number): number {
    const code = text.charCodeAt(at)
    const mayBegin = this.#place.startsWith('key') ? code === QUOTE : !isBoundary(code)
    if (!BEFORE_VALUE.has(this.#place) || !mayBegin) throw this.#unexpected(text, at)
    const isScalar = code !== QUOTE && code !== OPEN_BRACE && code !== OPEN_BRACKET
    this.#open = { ...openValue(), isScalar, text: '' }
    return at
  }

  /** Continues a value. Returns the index after it, or after the piece. */
  #goOn(value: Begun, text: string, at: number, rows: string[]): number {
    const end = value.isScalar ? scalarEnd(text, at) : valueEnd(value, text, at)
    value.text += text.slice(at, end < 0 ? text.length : end)
    if (end < 0) return text.length
    this.#open = null
    this.#took(value.text, rows)
    return end
  }

  #took(text: string, rows: string[]): void {
    if (this.#place.startsWith('row')) {
      rows.push(text)
      this.#place = 'comma or end of rows'
      return
    }
    this.#rest += text
    if (this.#place === 'value') this.#place = 'comma or end'
    else {
      this.#key = String(parseQuietly(text))
      this.#place = 'colon'
    }
  }

  #noRows(): SyntaxError {
    const isWhole = this.#rowsAt === 'array'
    return new SyntaxError(
      `the answer ${isWhole ? 'is not an array' : `has no array '${this.#name}'`}`,
    )
  }

  #unexpected(text: string, at: number): SyntaxError {
    const found = JSON.stringify(text.charAt(at))
    return new SyntaxError(`unexpected ${found} at character ${this.#read + at} of the answer`)
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

/** The error does not quote the answer, which may hold secrets. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError(`the answer is not valid JSON (${text.length} characters)`)
  }
}
