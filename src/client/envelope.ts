/** One row of an envelope: its text exactly as served, and what it means. */
export interface ServedRow {
  readonly text: string
  readonly value: unknown
}

export interface Envelope {
  readonly rows: readonly ServedRow[]
  /** The document with `data` emptied. */
  readonly rest: unknown
}

/**
 * Cuts an analytics answer at the boundaries of its rows, so that every row
 * keeps its bytes: number spellings, key order, escapes (law 1). Every piece
 * is parsed, so a wrong cut cannot pass: the rows one by one, and the rest with
 * `data` emptied.
 *
 * @throws SyntaxError when the text is not JSON, not an object, or has no
 *   array `data`.
 */
export function sliceEnvelope(text: string): Envelope {
  const span = dataSpan(text)
  const rest: unknown = JSON.parse(`${text.slice(0, span.start)}[]${text.slice(span.end)}`)
  const rows = span.rows.map((row) => {
    const slice = text.slice(row.start, row.end)
    return { text: slice, value: JSON.parse(slice) as unknown }
  })
  return { rows, rest }
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

interface DataSpan extends Span {
  readonly rows: readonly Span[]
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** Where the top-level `data` array lies. A repeated key counts as JSON.parse has it: the last wins. */
function dataSpan(text: string): DataSpan {
  let found: DataSpan | undefined
  let at = expect(text, skipSpace(text, 0), OPEN_BRACE)
  at = skipSpace(text, at)
  while (text.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, at)
    const key: unknown = JSON.parse(text.slice(at, keyEnd))
    const valueStart = skipSpace(text, expect(text, skipSpace(text, keyEnd), COLON))
    const isArray = text.charCodeAt(valueStart) === OPEN_BRACKET
    if (key === 'data') found = isArray ? elements(text, valueStart) : undefined
    const valueEnd = key === 'data' && found !== undefined ? found.end : skipValue(text, valueStart)
    at = skipSpace(text, valueEnd)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
    else if (text.charCodeAt(at) !== CLOSE_BRACE) throw unexpected(text, at)
  }
  if (found === undefined) throw new SyntaxError("the answer has no array 'data'")
  return found
}

function elements(text: string, start: number): DataSpan {
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
  for (let index = at + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === BACKSLASH) index += 1
    else if (code === QUOTE) return index + 1
  }
  throw unexpected(text, text.length)
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
  return new SyntaxError(
    `unexpected ${JSON.stringify(text.slice(at, at + 12))} at character ${at} of the answer`,
  )
}
