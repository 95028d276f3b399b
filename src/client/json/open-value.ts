import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  MAX_DEPTH,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../lib/json.ts'

/** A value that has begun: what kind it is, and what of it has come. */
export interface OpenValue {
  readonly kind: 'string' | 'nested' | 'scalar'
  text: string
  depth: number
  isInString: boolean
  isEscaped: boolean
}

/**
 * The index after a string, an object or an array that is under way; -1 where it does not end here.
 *
 * @throws SyntaxError for one that is nested too deep to be read by those who come after.
 */
export function valueEnd(value: OpenValue, text: string, start: number): number {
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
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        depth += 1
        if (depth > MAX_DEPTH) throw tooDeep()
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth -= 1
        if (depth === 0) return at + 1
      }
    }
  }
  value.depth = depth
  value.isInString = isInString
  return -1
}

export function tooDeep(): SyntaxError {
  return new SyntaxError(`a value is nested deeper than ${MAX_DEPTH} levels`)
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

export function scalarEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) if (isBoundary(text.charCodeAt(at))) return at
  return -1
}

export function isBoundary(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE || isSpace(code)
}

export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
