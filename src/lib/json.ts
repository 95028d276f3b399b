/** Characters of JSON's grammar (RFC 8259), as UTF-16 units. */
export const QUOTE = 34
export const COMMA = 44
export const OPEN_BRACKET = 91
const BACKSLASH = 92
export const CLOSE_BRACKET = 93
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125

/**
 * The maximum depth of a value. DuckDB parses some JSON recursively, and the process
 * crashes between 10,000 and 20,000 levels of objects.
 */
export const MAX_DEPTH = 12_000

/** The state after a part of a value, with which the next piece is read. */
export type OpenValue = ReturnType<typeof openValue>

/** The state before the first character. */
export function openValue() {
  return { depth: 0, isInString: false, isEscaped: false }
}

/**
 * The index after a string, an object or an array that has begun; -1 if it does not end in
 * the text. Does not recurse.
 *
 * @throws SyntaxError for more than `most` levels.
 */
export function valueEnd(value: OpenValue, text: string, start = 0, most = MAX_DEPTH): number {
  let { depth, isInString } = value
  let at = start
  while (at < text.length) {
    if (isInString) {
      at = stringEnd(text, at, value)
      if (at < 0) break
      isInString = false
      if (depth === 0) return at
    }
    for (; at < text.length && !isInString; at += 1) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) isInString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        depth += 1
        if (depth > most) throw new SyntaxError(`a value is nested deeper than ${most} levels`)
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

/**
 * The index after the quote that ends a string, searched from a place within the string; -1 if
 * it does not end in the text. Most text is in strings, and `indexOf` is several times faster than a loop.
 */
export function stringEnd(text: string, start: number, value = openValue()): number {
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

/** Whether a value in the text, which need not be JSON, has more levels. Reads the text once. */
export function isTooDeep(text: string, most = MAX_DEPTH): boolean {
  if (text.length <= 2 * most) return false
  try {
    for (let at = 0; at >= 0;) at = valueEnd(openValue(), text, at, most)
    return false
  } catch {
    return true
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** As in JSON: nothing follows a leading zero, so that `01` stays an error. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parses JSON text. Integers beyond 2^53 become texts, because a number would round them. */
export function parseExactly(text: string): unknown {
  return parseSpelled(text, (number) => (isRounded(number) ? `"${number}"` : number))
}

/** As `parseExactly`, but these texts are marked: `keptText` writes them as numbers. */
export function parseMarked(text: string): unknown {
  return parseSpelled(text, (number) => (isRounded(number) ? `"\\u0000${number}"` : number))
}

function isRounded(number: string): boolean {
  return /^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))
}

/**
 * Parses JSON text. Numbers that JavaScript would spell otherwise become marked texts, which
 * `keptText` writes as they were.
 */
export function parseKept(text: string): unknown {
  return parseSpelled(text, (number) =>
    String(Number(number)) === number ? number : `"\\u0000${number}"`,
  )
}

/** A text that `keptText` writes as a number with this spelling. */
export function keptNumber(spelling: string): string {
  return `\0${spelling}`
}

/** A value as JSON text, with the numbers that were marked. */
export function keptText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/(?<!\\)"\\u0000(-?\d[\d.eE+-]*)"/g, '$1')
}

/** `spell` returns the text that is parsed in the place of a number. */
function parseSpelled(text: string, spell: (number: string) => string): unknown {
  let exact = ''
  for (let at = 0; at >= 0 && at < text.length;) {
    const quote = text.indexOf('"', at)
    const begin = quote < 0 ? text.length : quote
    const end = quote < 0 ? begin : stringEnd(text, quote + 1)
    exact += text.slice(at, begin).replaceAll(NUMBER, spell)
    exact += text.slice(begin, end < 0 ? undefined : end)
    at = end
  }
  return JSON.parse(exact)
}

/** Whether a parsed value is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function jsonObject(
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): object | undefined {
  try {
    const value = parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}
