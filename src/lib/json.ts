/** Characters of JSON's grammar (RFC 8259), as UTF-16 units. */
export const QUOTE = 34
export const COMMA = 44
export const COLON = 58
export const OPEN_BRACKET = 91
export const BACKSLASH = 92
export const CLOSE_BRACKET = 93
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125

/** The index after the string whose quote is at `at`; -1 where it does not end. */
export function stringEnd(text: string, at: number): number {
  for (let index = at + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === BACKSLASH) index += 1
    else if (code === QUOTE) return index + 1
  }
  return -1
}

/**
 * How deep a value may be nested. DuckDB parses some JSON with a call for each level, and
 * its threads end with their process between 10,000 and 20,000 levels of objects.
 */
export const MAX_DEPTH = 12_000

/** Whether something in the text is nested deeper than that. */
export function isTooDeep(text: string): boolean {
  return isDeeperThan(text, MAX_DEPTH)
}

/** Whether something in JSON text has more levels. Reads it once; no call for each level. */
export function isDeeperThan(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false
  let depth = 0
  for (let at = 0; at >= 0 && at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at)
      continue
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1
    if (depth > most) return true
    at += 1
  }
  return false
}

/** The object that a JSON text is; undefined for anything else. */
export function jsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What becomes of the leaves and names of a JSON text. `State` is the position in it. */
export interface Rewriting<State> {
  readonly root: State
  /** In the object's field `name`, or, where it is null, in an element of the array. */
  readonly enter: (state: State, name: string | null) => State
  /** What the field's name becomes; `state` is the object's. */
  readonly name: (state: State, name: string) => string
  readonly string: (state: State, value: string) => string
  /** A string that takes the place of the number; undefined: it stays as it is. */
  readonly number: (state: State, text: string) => string | undefined
}

/**
 * Rewrites strings, numbers and names of a JSON text. Whatever is not changed
 * keeps its bytes: spellings, order, blanks, names that come twice.
 *
 * @throws SyntaxError, which quotes nothing of the text, when it is not JSON.
 */
export function rewriteJson<State>(text: string, rewriting: Rewriting<State>): string {
  check(text)
  const { root, enter, name, string, number } = rewriting
  const pieces: string[] = []
  const objects: Frame<State>[] = []
  let copied = 0
  let isName = false
  let state = root

  const put = (start: number, end: number, served: string, value: string | undefined): void => {
    if (value === undefined || value === served) return
    pieces.push(text.slice(copied, start), JSON.stringify(value))
    copied = end
  }
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at)
    const frame = objects.at(-1)
    if (code === QUOTE) {
      const end = stringEnd(text, at)
      const value = String(JSON.parse(text.slice(at, end)))
      put(at, end, value, isName && frame ? name(frame.state, value) : string(state, value))
      if (isName && frame !== undefined) state = enter(frame.state, value)
      isName = false
      at = end
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const isArray = code === OPEN_BRACKET
      objects.push({ state, isArray })
      if (isArray) state = enter(state, null)
      isName = !isArray
      at += 1
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      objects.pop()
      isName = false
      at += 1
    } else if (code === COMMA && frame !== undefined) {
      isName = !frame.isArray
      if (frame.isArray) state = enter(frame.state, null)
      at += 1
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = numberEnd(text, at)
      const served = text.slice(at, end)
      put(at, end, '', number(state, served))
      at = end
    } else at += 1 // blanks, colons, the letters of true, false and null
  }
  return pieces.join('') + text.slice(copied)
}

interface Frame<State> {
  readonly state: State
  readonly isArray: boolean
}

const MINUS = 45
const ZERO = 48
const NINE = 57

function check(text: string): void {
  try {
    JSON.parse(text)
  } catch {
    throw new SyntaxError(`it is not valid JSON (${text.length} characters)`)
  }
}

function numberEnd(text: string, at: number): number {
  let index = at
  while (index < text.length && /[-+.\deE]/.test(text.charAt(index))) index += 1
  return index
}
