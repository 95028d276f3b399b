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

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
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
