import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
} from './json-text.ts'

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
