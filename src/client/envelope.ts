import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
} from '../core/json-text.ts'

/** One row of an envelope: its text exactly as served, and what it means. */
export interface ServedRow {
  readonly text: string
  readonly value: unknown
}

export interface Envelope {
  readonly rows: readonly ServedRow[]
  /** The document with the array of the rows emptied. */
  readonly rest: unknown
}

/**
 * Cuts an answer at the boundaries of its rows, the elements of its array `key`,
 * so that every row keeps its bytes: number spellings, key order, escapes (law 1).
 * Every piece is parsed, so a wrong cut cannot pass: the rows one by one, and the
 * rest with the array emptied.
 *
 * @throws SyntaxError when the text is not JSON, not an object, or has no such array.
 */
export function sliceEnvelope(text: string, key = 'data'): Envelope {
  const span = arraySpan(text, key)
  const rest = parseQuietly(`${text.slice(0, span.start)}[]${text.slice(span.end)}`)
  return { rows: rowsOf(text, span), rest }
}

/** The same for an answer that is itself the array of its rows. @throws SyntaxError */
export function sliceArray(text: string): readonly ServedRow[] {
  const start = skipSpace(text, 0)
  expect(text, start, OPEN_BRACKET)
  const span = elements(text, start)
  const end = skipSpace(text, span.end)
  if (end < text.length) throw unexpected(text, end)
  return rowsOf(text, span)
}

/** An answer that is one row. @throws SyntaxError when it is no object. */
export function sliceWhole(text: string): ServedRow {
  expect(text, skipSpace(text, 0), OPEN_BRACE)
  return { text: text.trim(), value: parseQuietly(text) }
}

function rowsOf(text: string, span: ArraySpan): ServedRow[] {
  return span.rows.map((row) => {
    const slice = text.slice(row.start, row.end)
    return { text: slice, value: parseQuietly(slice) }
  })
}

/** What is wrong is said without what is there: an answer may carry secrets. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError(`the answer is not valid JSON (${text.length} characters)`)
  }
}

/** The value of a field, or undefined where `value` is no object or has no such field. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

interface Span {
  readonly start: number
  readonly end: number
}

interface ArraySpan extends Span {
  readonly rows: readonly Span[]
}

/** Where a top-level array lies. A repeated key counts as JSON.parse has it: the last wins. */
function arraySpan(text: string, name: string): ArraySpan {
  let found: ArraySpan | undefined
  let at = expect(text, skipSpace(text, 0), OPEN_BRACE)
  at = skipSpace(text, at)
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, at)
    const key = parseQuietly(text.slice(at, keyEnd))
    const valueStart = skipSpace(text, expect(text, skipSpace(text, keyEnd), COLON))
    const isArray = text.charCodeAt(valueStart) === OPEN_BRACKET
    if (key === name) found = isArray ? elements(text, valueStart) : undefined
    const valueEnd = key === name && found !== undefined ? found.end : skipValue(text, valueStart)
    at = skipSpace(text, valueEnd)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
    else if (text.charCodeAt(at) !== CLOSE_BRACE) throw unexpected(text, at)
  }
  if (found === undefined) throw new SyntaxError(`the answer has no array '${name}'`)
  return found
}

function elements(text: string, start: number): ArraySpan {
  const rows: Span[] = []
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACKET) return { start, end: at + 1, rows }
  for (;;) {
    const end = skipValue(text, at)
    rows.push({ start: at, end })
    at = skipSpace(text, end)
    const next = text.charCodeAt(at)
    if (next === CLOSE_BRACKET) return { start, end: at + 1, rows }
    if (next !== COMMA) throw unexpected(text, at)
    at = skipSpace(text, at + 1)
  }
}

/** The index after the value that begins at `at`. Only finds the end: JSON.parse judges the inside. */
function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return skipString(text, at)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(text, at)
  let depth = 0
  for (let index = at; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = skipString(text, index) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1
      if (depth === 0) return index + 1
    }
  }
  throw unexpected(text, text.length)
}

function skipString(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) throw unexpected(text, at)
  const end = stringEnd(text, at)
  if (end < 0) throw unexpected(text, text.length)
  return end
}

function skipScalar(text: string, at: number): number {
  let index = at
  while (index < text.length && !isBoundary(text.charCodeAt(index))) index += 1
  if (index === at) throw unexpected(text, at)
  return index
}

function isBoundary(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE || isSpace(code)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

function skipSpace(text: string, at: number): number {
  let index = at
  while (isSpace(text.charCodeAt(index))) index += 1
  return index
}

function expect(text: string, at: number, code: number): number {
  if (text.charCodeAt(at) !== code) throw unexpected(text, at)
  return at + 1
}

function unexpected(text: string, at: number): SyntaxError {
  if (at >= text.length)
    return new SyntaxError(`the answer ends early, after ${text.length} characters`)
  const found = JSON.stringify(text.charAt(at))
  return new SyntaxError(`unexpected ${found} at character ${at} of the answer`)
}
