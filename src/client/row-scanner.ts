import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../core/json-text.ts'

/** One row of an answer: its text exactly as served, and what it means. */
export interface ServedRow {
  readonly text: string
  readonly value: unknown
}

/** Where the rows of an answer are: in an array of the object, or in the array that it is. */
export type RowsAt = { readonly key: string } | 'array'

/** What may come next, outside of a value. */
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

/** A value that has begun: what kind it is, and what of it has come. */
interface OpenValue {
  readonly kind: 'string' | 'nested' | 'scalar'
  text: string
  depth: number
  isInString: boolean
  isEscaped: boolean
}

/**
 * Cuts an answer at the boundaries of its rows while it comes, in pieces of any
 * length, so that every row keeps its bytes: number spellings, key order, escapes
 * (law 1). Memory holds one row and what stands beside the rows. It finds the
 * ends of values only: who takes the rows parses each, and `end` the rest.
 */
export class RowScanner {
  readonly #rowsAt: RowsAt
  #place: Place = 'root'
  #open: OpenValue | null = null
  #key = ''
  #areRowsMet = false
  /** The document with the array of the rows emptied. */
  #rest = ''
  /** Characters before the piece at hand. */
  #read = 0
  #rowsBegin = 0
  #rowsEnd = 0

  constructor(rowsAt: RowsAt) {
    this.#rowsAt = rowsAt
  }

  /** Returns the texts of the rows that end in the piece. @throws SyntaxError */
  write(text: string): string[] {
    const rows: string[] = []
    for (let at = 0; at < text.length;) at = this.#advance(text, at, rows)
    this.#read += text.length
    return rows
  }

  /** Returns the rows of an answer that is there whole, each parsed. @throws SyntaxError */
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
   * @throws SyntaxError when the answer was cut off, is not JSON beside its rows, or has no rows.
   */
  end(): unknown {
    if (this.#place !== 'end') {
      throw new SyntaxError(`the answer ends early, after ${this.#read} characters`)
    }
    if (!this.#areRowsMet) throw new SyntaxError(`the answer has no array '${this.#name}'`)
    return parseQuietly(this.#rest)
  }

  /** Whether the array of the rows is what comes next. */
  get isBeforeRows(): boolean {
    return this.#place === 'value' && this.#key === this.#name && !this.#areRowsMet
  }

  /** Where the array of the rows begins and where it has ended, in characters of the answer. */
  get rowsAt(): readonly [begin: number, end: number] {
    return [this.#rowsBegin, this.#rowsEnd]
  }

  get #name(): string {
    return this.#rowsAt === 'array' ? '' : this.#rowsAt.key
  }

  get #isAtRow(): boolean {
    return this.#open === null && (this.#place === 'row or end' || this.#place === 'row')
  }

  #advance(text: string, at: number, rows: string[]): number {
    if (this.#open !== null) return this.#goOn(this.#open, text, at, rows)
    return isSpace(text.charCodeAt(at)) ? at + 1 : this.#step(text, at)
  }

  /** What stands at `at` begins a value, or leads to another place. Returns the index after it, or of the value. */
  #step(text: string, at: number): number {
    const code = text.charCodeAt(at)
    switch (this.#place) {
      case 'root':
        if (this.#rowsAt === 'array') return this.#beginRows(code, text, at)
        return this.#turn(code === OPEN_BRACE, 'key or end', text, at)
      case 'key or end':
        if (code === CLOSE_BRACE) return this.#turn(true, 'end', text, at)
        return this.#begin(code === QUOTE, text, at)
      case 'key':
        return this.#begin(code === QUOTE, text, at)
      case 'colon':
        return this.#turn(code === COLON, 'value', text, at)
      case 'value':
        if (this.#key !== this.#name) return this.#begin(true, text, at)
        // of a name that comes twice JSON.parse takes the last: here nobody says which rows are meant
        if (this.#areRowsMet) throw new SyntaxError(`the answer has '${this.#name}' twice`)
        return this.#beginRows(code, text, at)
      case 'comma or end':
        if (code === COMMA) return this.#turn(true, 'key', text, at)
        return this.#turn(code === CLOSE_BRACE, 'end', text, at)
      case 'row or end':
        return code === CLOSE_BRACKET ? this.#endRows(text, at) : this.#begin(true, text, at)
      case 'row':
        return this.#begin(true, text, at)
      case 'comma or end of rows':
        if (code === CLOSE_BRACKET) return this.#endRows(text, at)
        if (code !== COMMA) throw this.#unexpected(text, at)
        this.#place = 'row'
        return at + 1
      case 'end':
        throw this.#unexpected(text, at)
    }
  }

  #turn(isExpected: boolean, place: Place, text: string, at: number): number {
    if (!isExpected) throw this.#unexpected(text, at)
    this.#rest += text.charAt(at)
    this.#place = place
    return at + 1
  }

  #beginRows(code: number, text: string, at: number): number {
    if (code !== OPEN_BRACKET) throw new SyntaxError(`the answer has no array '${this.#name}'`)
    this.#areRowsMet = true
    this.#rowsBegin = this.#read + at
    return this.#turn(true, 'row or end', text, at)
  }

  #endRows(text: string, at: number): number {
    this.#rowsEnd = this.#read + at + 1
    return this.#turn(true, this.#rowsAt === 'array' ? 'end' : 'comma or end', text, at)
  }

  #begin(isExpected: boolean, text: string, at: number): number {
    const code = text.charCodeAt(at)
    if (!isExpected || isBoundary(code)) throw this.#unexpected(text, at)
    const isNested = code === OPEN_BRACE || code === OPEN_BRACKET
    const kind = code === QUOTE ? 'string' : isNested ? 'nested' : 'scalar'
    this.#open = { kind, text: '', depth: 0, isInString: false, isEscaped: false }
    return at
  }

  /** Reads on in a value. Returns the index after it, or after the piece. */
  #goOn(value: OpenValue, text: string, at: number, rows: string[]): number {
    const end = value.kind === 'scalar' ? scalarEnd(text, at) : valueEnd(value, text, at)
    value.text += text.slice(at, end < 0 ? text.length : end)
    if (end < 0) return text.length
    this.#open = null
    this.#took(value.text, rows)
    return end
  }

  #took(text: string, rows: string[]): void {
    if (this.#place === 'row or end' || this.#place === 'row') {
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

  #unexpected(text: string, at: number): SyntaxError {
    const found = JSON.stringify(text.charAt(at))
    return new SyntaxError(`unexpected ${found} at character ${this.#read + at} of the answer`)
  }
}

/** @throws SyntaxError when the text is no JSON. */
export function servedRow(text: string): ServedRow {
  return { text, value: parseQuietly(text) }
}

/**
 * The object at `at`, where it ends at the next brace: most rows hold no other
 * object. To parse it proves that, and takes less than to look for its end.
 */
function flatRow(text: string, at: number): ServedRow | undefined {
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined
  const row = text.slice(at, text.indexOf('}', at) + 1)
  if (row.includes('{', 1)) return undefined
  try {
    return { text: row, value: JSON.parse(row) as unknown }
  } catch {
    return undefined // the brace is in a string, or nothing ends here
  }
}

/** What is wrong is said without what is there: an answer may carry secrets. */
export function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError(`the answer is not valid JSON (${text.length} characters)`)
  }
}

/** The index after a string, an object or an array that is under way; -1 where it does not end here. */
function valueEnd(value: OpenValue, text: string, start: number): number {
  let { depth, isInString } = value
  let at = start
  while (at < text.length) {
    if (isInString) {
      at = stringEnd(value, text, at)
      if (at < 0) break
      isInString = false
      if (depth === 0) return at
    }
    for (; at < text.length && !isInString; at += 1) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) isInString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth -= 1
        if (depth === 0) return at + 1
      }
    }
  }
  value.depth = depth
  value.isInString = isInString
  return -1
}

/**
 * The index after the quote that ends a string under way; -1 where it does not end here.
 * Most of a text is in strings, and `indexOf` is several times faster than a loop.
 */
function stringEnd(value: OpenValue, text: string, start: number): number {
  let from = value.isEscaped ? start + 1 : start
  for (;;) {
    const quote = text.indexOf('"', from)
    const end = quote < 0 ? text.length : quote
    let unescaped = end
    while (unescaped > from && text.charCodeAt(unescaped - 1) === BACKSLASH) unescaped -= 1
    value.isEscaped = (end - unescaped) % 2 === 1
    if (quote < 0) return -1
    from = quote + 1
    if (!value.isEscaped) return from
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
