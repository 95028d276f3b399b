/** A value in a JSON text, with where it stands: `text.slice(start, end)` is its spelling. */
export type JsonNode = JsonObject | JsonArray | JsonScalar

interface Span {
  readonly start: number
  readonly end: number
}

export interface JsonMember {
  readonly key: string
  /** From the key's quote to the end of its value. */
  readonly start: number
  readonly value: JsonNode
}

export interface JsonObject extends Span {
  readonly kind: 'object'
  readonly members: readonly JsonMember[]
}

export interface JsonArray extends Span {
  readonly kind: 'array'
  readonly items: readonly JsonNode[]
}

export interface JsonScalar extends Span {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
}

/** What is no JSON, with the place, counted from 1. */
export class JsonSyntaxError extends Error {
  readonly line: number
  readonly column: number

  constructor(what: string, text: string, at: number) {
    super(what)
    this.name = 'JsonSyntaxError'
    const before = text.slice(0, at).split('\n')
    this.line = before.length
    this.column = (before.at(-1) ?? '').length + 1
  }
}

/**
 * The tree of a JSON text (RFC 8259), so that it can be edited without its
 * being written anew: numbers, order, blanks and spellings stay as they are.
 * The grammar is strict: neither comments nor commas too many.
 *
 * @throws JsonSyntaxError
 */
export function parseJsonTree(text: string): JsonNode {
  return new Reader(text).whole()
}

const BLANKS = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/** Deeper than any settings, and than the stack goes by far not. */
const MAX_DEPTH = 500

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): JsonNode {
    if (this.#text.startsWith('\uFEFF')) this.#at = 1
    this.#blanks()
    const node = this.#value()
    this.#blanks()
    if (this.#at < this.#text.length) this.#fail('there is more after the end of the value')
    return node
  }

  #value(): JsonNode {
    const start = this.#at
    const first = this.#text[start]
    if (first === '{') return this.#nested(() => this.#object(start))
    if (first === '[') return this.#nested(() => this.#array(start))
    if (first === '"') return { kind: 'scalar', start, value: this.#string(), end: this.#at }
    const number = this.#match(NUMBER)
    if (number !== undefined) return { kind: 'scalar', start, value: Number(number), end: this.#at }
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, start)) continue
      this.#at += word.length
      return { kind: 'scalar', start, value, end: this.#at }
    }
    return this.#fail(
      first === undefined ? 'the text ends where a value is due' : 'no value begins so',
    )
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) this.#fail(`nested more than ${MAX_DEPTH} deep`)
    const node = read()
    this.#depth -= 1
    return node
  }

  #object(start: number): JsonObject {
    const members: JsonMember[] = []
    this.#list('}', () => {
      const at = this.#at
      if (this.#text[at] !== '"') this.#fail('a name in quotes is due')
      const key = this.#string()
      this.#blanks()
      if (this.#text[this.#at] !== ':') this.#fail("':' is due")
      this.#at += 1
      this.#blanks()
      members.push({ key, start: at, value: this.#value() })
    })
    return { kind: 'object', start, members, end: this.#at }
  }

  #array(start: number): JsonArray {
    const items: JsonNode[] = []
    this.#list(']', () => items.push(this.#value()))
    return { kind: 'array', start, items, end: this.#at }
  }

  #list(close: string, element: () => void): void {
    this.#at += 1
    this.#blanks()
    if (this.#text[this.#at] === close) {
      this.#at += 1
      return
    }
    for (;;) {
      element()
      this.#blanks()
      const next = this.#text[this.#at]
      if (next !== ',' && next !== close) this.#fail(`',' or '${close}' is due`)
      this.#at += 1
      if (next === close) return
      this.#blanks()
    }
  }

  #string(): string {
    const spelling = this.#match(STRING)
    if (spelling === undefined)
      return this.#fail('a text in quotes does not end, or holds what it may not')
    return String(JSON.parse(spelling))
  }

  #blanks(): void {
    this.#match(BLANKS)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #fail(what: string): never {
    throw new JsonSyntaxError(what, this.#text, this.#at)
  }
}
