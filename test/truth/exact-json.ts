/**
 * JSON read without loss. Objects are Maps, so that keys keep the order they
 * were served in (a JavaScript object moves keys such as "10" to the front).
 * A number whose value is an integer is exact: a `number` inside the safe range,
 * a `bigint` beyond it, whichever way it was spelt (`12`, `12.0`, `1.2e1`).
 */
export type Json = null | boolean | number | bigint | string | JsonArray | JsonObject
export type JsonArray = readonly Json[]
export type JsonObject = ReadonlyMap<string, Json>

const WHITE_SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y
const LITERALS: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
/** Beyond the range of a double (1.8e308) there is nothing to be exact about. */
const MOST_DIGITS = 400

/** @throws SyntaxError with the offset, for everything that `JSON.parse` refuses too. */
export function parseExact(text: string): Json {
  const reader = new Reader(text)
  const value = reader.value()
  reader.end()
  return value
}

/** The exact value of a JSON number token: an integer where it is one, else the nearest double. */
export function exactNumber(token: string): number | bigint {
  const value = Number(token)
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(token)) return value
  const whole = wholeNumber(token)
  if (whole === undefined) return value
  const narrow = Number(whole)
  return Number.isSafeInteger(narrow) ? narrow : whole
}

/** The integer that a decimal token stands for, or undefined when it stands for none. */
function wholeNumber(token: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  const places = Number(exponent) - fraction.length
  if (Math.abs(places) > MOST_DIGITS) return /^-?0+$/.test(digits) ? 0n : undefined
  if (places >= 0) return BigInt(digits + '0'.repeat(places))
  const kept = digits.slice(0, places)
  const dropped = digits.slice(places)
  if (!/^-?0*$/.test(dropped)) return undefined
  return kept === '' || kept === '-' ? 0n : BigInt(kept)
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(): Json {
    this.#take(WHITE_SPACE)
    const value = this.#bareValue()
    this.#take(WHITE_SPACE)
    return value
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#unexpected()
  }

  #bareValue(): Json {
    const char = this.#text[this.#at]
    if (char === '{') return this.#object()
    if (char === '[') return this.#array()
    if (char === '"') return this.#string()
    for (const [word, value] of LITERALS) {
      if (this.#skip(word)) return value
    }
    const token = this.#take(NUMBER)
    if (token === '') throw this.#unexpected()
    return exactNumber(token)
  }

  #object(): JsonObject {
    const object = new Map<string, Json>()
    this.#expect('{')
    this.#take(WHITE_SPACE)
    if (this.#skip('}')) return object
    do {
      this.#take(WHITE_SPACE)
      const key = this.#string()
      this.#take(WHITE_SPACE)
      this.#expect(':')
      object.set(key, this.value())
    } while (this.#skip(','))
    this.#expect('}')
    return object
  }

  #array(): JsonArray {
    const array: Json[] = []
    this.#expect('[')
    this.#take(WHITE_SPACE)
    if (this.#skip(']')) return array
    do array.push(this.value())
    while (this.#skip(','))
    this.#expect(']')
    return array
  }

  #string(): string {
    this.#expect('"')
    let text = this.#take(PLAIN_TEXT)
    while (this.#skip('\\')) text += this.#escape() + this.#take(PLAIN_TEXT)
    this.#expect('"')
    return text
  }

  #escape(): string {
    if (this.#skip('u'))
      return String.fromCharCode(parseInt(this.#take(/[\dA-Fa-f]{4}/y, true), 16))
    const char = ESCAPES[this.#text[this.#at] ?? '']
    if (char === undefined) throw this.#unexpected()
    this.#at += 1
    return char
  }

  /** The text that a sticky pattern matches here, '' when it matches nothing and need not. */
  #take(pattern: RegExp, needed = false): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    if (needed && found === '') throw this.#unexpected()
    this.#at += found.length
    return found
  }

  #skip(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #expect(char: string): void {
    if (!this.#skip(char)) throw this.#unexpected()
  }

  #unexpected(): SyntaxError {
    const found = this.#text.slice(this.#at, this.#at + 12)
    return new SyntaxError(
      found === ''
        ? `JSON ends too early, at offset ${this.#at}`
        : `JSON has an unexpected '${found}' at offset ${this.#at}`,
    )
  }
}
