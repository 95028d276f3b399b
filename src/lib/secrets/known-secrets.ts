import { grouped } from '../grouped.ts'

/** Replaces a known secret. */
export const REDACTED = '[redacted]'

/** A shorter text is no credential, and removing it would damage ordinary words. */
const MIN_LENGTH = 4

/** A shorter secret is not removed from data, where it would be found by chance. */
const MIN_LENGTH_IN_DATA = 8

/**
 * Removes secrets whose text is known, such as the credential of a client, from server
 * responses. Finds them in upper or lower case, plain and as JSON, URLs (encoded up to five
 * times), HTML entities, Base64 and hexadecimal spell them. Does not find a character
 * that is escaped in two of these ways.
 */
export class KnownSecrets {
  /** In lower case. */
  readonly #secrets: readonly string[]
  readonly #inText: Spellings
  readonly #inData: Spellings

  constructor(secrets: readonly string[]) {
    const all = [...new Set(secrets.map((secret) => secret.trim()))]
    this.#secrets = all.map(inSmallLetters)
    this.#inText = new Spellings(all.filter(({ length }) => length >= MIN_LENGTH))
    this.#inData = new Spellings(all.filter(({ length }) => length >= MIN_LENGTH_IN_DATA))
  }

  text(text: string): string {
    return this.#inText.without(text)
  }

  /** Also removes pieces of a secret, for the text of an error, which may cut a secret off. */
  message(text: string): string {
    return this.#secrets.reduce(withoutPieces, this.text(text))
  }

  /** Removes the secrets from the message, the stack and the causes of an error. */
  error(error: unknown): void {
    for (let each = error, depth = 0; each instanceof Error && depth < 10; each = each.cause) {
      this.#clean(each, 'message')
      this.#clean(each, 'stack')
      if (each instanceof AggregateError) for (const inner of each.errors) this.error(inner)
      depth += 1
    }
  }

  /** The message of a system error can be defined, but not set. */
  #clean(error: Error, property: 'message' | 'stack'): void {
    const text = error[property]
    const clean = text === undefined ? text : this.message(text)
    if (clean !== text) Object.defineProperty(error, property, { value: clean, configurable: true })
  }

  /**
   * Removes the secrets from a body that comes in pieces; its other bytes stay unchanged.
   * A secret may span two pieces, so the end of a piece is held back until the next one.
   */
  stream() {
    const { longest } = this.#inData
    let pending: Uint8Array = new Uint8Array()
    return {
      /** Returns the bytes that are clean so far, which may be none. */
      write: (piece: Uint8Array): Uint8Array => {
        if (longest === 0) return piece
        const all = Buffer.concat([pending, piece])
        const text = all.toString('latin1')
        const found = this.#inData.without(text)
        const clean = found === text ? all : Buffer.from(found, 'latin1')
        const end = Math.max(0, clean.byteLength - longest + 1)
        pending = clean.subarray(end)
        return clean.subarray(0, end)
      },
      end: (): Uint8Array => pending,
    }
  }
}

/** Every spelling of the secrets. */
class Spellings {
  /** The length of the longest spelling. */
  readonly longest: number
  readonly #forms: readonly string[]
  /** The forms by their first characters, as many as the shortest form has. */
  readonly #index: ReadonlyMap<string, readonly string[]>
  readonly #beginning: number
  /** A text without any of these has no escapes, and needs no second search. */
  readonly #signs: readonly string[]

  constructor(secrets: readonly string[]) {
    const forms = secrets.flatMap(formsOf).flatMap((form) => [form, readingOf(form).read])
    this.#forms = [...new Set(forms.map(inSmallLetters))].sort((a, b) => b.length - a.length)
    this.#beginning = Math.min(...this.#forms.map(({ length }) => length))
    this.#index = grouped(this.#forms, (form) => form.slice(0, this.#beginning))
    this.longest = Math.max(0, ...this.#forms.map(({ length }) => length * LONGEST_CHARACTER))
    const quoted = ['"', '/', '\\'].filter((char) => forms.some((form) => form.includes(char)))
    this.#signs = ['\\u00', '%', '&', ...quoted.map((char) => `\\${char}`)]
  }

  without(text: string): string {
    if (this.#forms.length === 0) return text
    const plain = cut(text, this.#spansIn(text))
    if (!this.#signs.some((sign) => plain.includes(sign))) return plain
    const { read, ends } = readingOf(plain)
    if (ends.length === 0) return plain
    const place = (at: number): number => placeIn(ends, at)
    return cut(
      plain,
      this.#spansIn(read).map(({ begin, end }) => ({ begin: place(begin), end: place(end) })),
    )
  }

  /** Where secrets are in a text, in order. */
  #spansIn(text: string): Span[] {
    const small = inSmallLetters(text)
    const spans = this.#forms.length > FEW ? this.#findByIndex(small) : this.#findEach(small)
    return spans.sort((a, b) => a.begin - b.begin)
  }

  /** A search for each form. */
  #findEach(small: string): Span[] {
    const spans: Span[] = []
    for (const form of this.#forms) {
      for (let at = small.indexOf(form); at >= 0; at = small.indexOf(form, at + form.length)) {
        spans.push({ begin: at, end: at + form.length })
      }
    }
    return spans
  }

  /** One pass for all forms: the time does not grow with their number. */
  #findByIndex(small: string): Span[] {
    const spans: Span[] = []
    for (let at = 0; at + this.#beginning <= small.length; at += 1) {
      const forms = this.#index.get(small.slice(at, at + this.#beginning))
      for (const form of forms ?? [])
        if (small.startsWith(form, at)) spans.push({ begin: at, end: at + form.length })
    }
    return spans
  }
}

/** Up to this number of forms, searching for each is faster than one pass. */
const FEW = 64

/** The text in lower case, each character at its index. */
function inSmallLetters(text: string): string {
  const small = text.toLowerCase()
  if (small.length === text.length) return small // a dotted I becomes two characters
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** A secret as it is, in hexadecimal, and within Base64 at each of the three possible offsets. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  if (bytes.byteLength < MIN_LENGTH_IN_DATA) return [secret]
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const bits = (before + bytes.byteLength) * 8
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6))
  })
  const urls = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [secret, hex, ...base64, ...urls]
}

/**
 * The escapes of an ASCII character in JSON, URLs and HTML. JSON within JSON also escapes
 * the backslash, a URL within a URL the per cent sign, HTML within HTML the ampersand.
 */
const ESCAPE = new RegExp(
  [
    String.raw`\\{1,2}u00([2-7][0-9a-f])`,
    String.raw`%(?:25){0,4}([2-7][0-9a-f])`,
    String.raw`&(?:amp;){0,2}#0{0,5}([3-9]\d|1[01]\d|12[0-6]);?`,
    String.raw`&(?:amp;){0,2}#x0{0,4}([2-7][0-9a-f]);?`,
    String.raw`&(?:amp;){0,2}(quot|apos|amp|lt|gt|sol|bsol|plus|equals|percnt|lowbar|period|colon);`,
    String.raw`\\{1,3}(["/\\])`,
  ].join('|'),
  'gi',
)

const NAMED: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  sol: '/',
  bsol: '\\',
  plus: '+',
  equals: '=',
  percnt: '%',
  lowbar: '_',
  period: '.',
  colon: ':',
}

/** The length of an escape like `&amp;amp;#00000115;`. */
const LONGEST_CHARACTER = 20

interface End {
  readonly text: number
  readonly read: number
}

/** The text without escapes, and where each escape ends, in the text and in `read`. */
function readingOf(text: string) {
  const parts: string[] = []
  const ends: End[] = []
  let copied = 0
  let length = 0
  for (const match of text.matchAll(ESCAPE)) {
    const part = text.slice(copied, match.index)
    parts.push(part, characterOf(match))
    copied = match.index + match[0].length
    length += part.length + 1
    ends.push({ text: copied, read: length })
  }
  return { read: parts.join('') + text.slice(copied), ends }
}

function characterOf([, json, url, decimal, hex, name, quoted]: RegExpExecArray): string {
  const code = json ?? url ?? hex
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  return quoted ?? NAMED[name?.toLowerCase() ?? ''] ?? ''
}

interface Span {
  readonly begin: number
  readonly end: number
}

/** The index in the text of the character, escaped or not, that is at `at` in `read`. */
function placeIn(ends: readonly End[], at: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ends[middle]?.read ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const before = ends[low - 1]
  return before === undefined ? at : before.text + at - before.read
}

/** Replaces each span by REDACTED; the spans are in order and may overlap. */
function cut(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text
  const pieces: string[] = []
  let copied = 0
  for (const { begin, end } of spans) {
    if (begin >= copied) pieces.push(text.slice(copied, begin), REDACTED)
    copied = Math.max(copied, end)
  }
  return pieces.join('') + text.slice(copied)
}

/** The text without pieces of a secret (in lower case) that are long enough to identify it. */
function withoutPieces(text: string, secret: string): string {
  const size = Math.min(16, Math.max(MIN_LENGTH_IN_DATA, Math.ceil(secret.length / 4)))
  const small = inSmallLetters(text)
  const spans: Span[] = []
  for (let begin = 0; begin + size <= small.length; begin += 1) {
    const end = begin + size
    if (secret.includes(small.slice(begin, end))) spans.push({ begin, end })
  }
  return cut(text, spans)
}
