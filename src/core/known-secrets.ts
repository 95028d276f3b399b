/** What stands in the place of a secret that is known. */
export const REDACTED = '[redacted]'

/** A shorter text is no credential, and taking it out would spoil ordinary words. */
const MIN_LENGTH = 4

/** The least that is taken out of data: there a short secret would be found by chance. */
const MIN_LENGTH_IN_DATA = 8

/**
 * Secrets whose text is known, such as the credential of a client: takes them out
 * of whatever a server answers, as they are and as JSON, URLs, Base64 and
 * hexadecimal spell them.
 */
export class KnownSecrets {
  readonly #inText: Spellings
  readonly #inData: Spellings
  readonly #pieces: ReadonlyMap<number, ReadonlySet<string>>

  constructor(secrets: readonly string[]) {
    const all = [...new Set(secrets.map((secret) => secret.trim()))]
    this.#inText = new Spellings(all.filter(({ length }) => length >= MIN_LENGTH))
    this.#inData = new Spellings(all.filter(({ length }) => length >= MIN_LENGTH_IN_DATA))
    this.#pieces = piecesOf(all)
  }

  /** Any text without the secrets. */
  text(text: string): string {
    return this.#inText.without(text)
  }

  /** What a server says in an error, also without pieces of a secret, as where it was cut off. */
  message(text: string): string {
    return withoutPieces(this.text(text), this.#pieces)
  }

  /** An error without the secrets in its message, its stack and its causes. */
  error(error: unknown): void {
    for (let each = error, depth = 0; each instanceof Error && depth < 10; each = each.cause) {
      this.#clean(each, 'message')
      this.#clean(each, 'stack')
      if (each instanceof AggregateError) for (const inner of each.errors) this.error(inner)
      depth += 1
    }
  }

  /** Also of an error of the system, whose message can be defined but not set. */
  #clean(error: Error, property: 'message' | 'stack'): void {
    const text = error[property]
    const clean = text === undefined ? text : this.message(text)
    if (clean !== text) Object.defineProperty(error, property, { value: clean, configurable: true })
  }

  /** A whole body, its other bytes as they were. */
  bytes(bytes: Uint8Array): Uint8Array {
    return this.#inData.withoutIn(bytes)
  }

  /** A body that comes in pieces, of which a secret may lie in two. */
  stream(): SecretFilter {
    return new SecretFilter(this.#inData)
  }
}

/** Hands on a body without the secrets, as late as is needed to know that none begins at its end. */
class SecretFilter {
  readonly #spellings: Spellings
  #held: Uint8Array = new Uint8Array()

  constructor(spellings: Spellings) {
    this.#spellings = spellings
  }

  /** What is known to hold no secret: perhaps nothing yet. */
  write(piece: Uint8Array): Uint8Array {
    const { longest } = this.#spellings
    if (longest === 0) return piece
    const all = this.#held.byteLength === 0 ? piece : Buffer.concat([this.#held, piece])
    const clean = this.#spellings.withoutIn(all)
    const end = Math.max(0, clean.byteLength - longest + 1)
    this.#held = Uint8Array.prototype.slice.call(clean, end)
    return clean.subarray(0, end)
  }

  /** What is left at the end. */
  end(): Uint8Array {
    const rest = this.#held
    this.#held = new Uint8Array()
    return rest
  }
}

/** Every way in which secrets may be spelled. */
class Spellings {
  /** Characters of the longest. */
  readonly longest: number
  readonly #forms: readonly string[]
  /** Without any of these none is there: a quick look before the slow one. */
  readonly #signs: readonly Buffer[]

  constructor(secrets: readonly string[]) {
    this.#forms = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length)
    this.longest = Math.max(0, ...this.#forms.map(({ length }) => length * LONGEST_CHARACTER))
    const quoted = QUOTED.filter((char) => this.#forms.some((form) => form.includes(char)))
    const signs = [...this.#forms, '\\u00', '%', ...quoted.map((char) => `\\${char}`)]
    this.#signs = this.#forms.length === 0 ? [] : signs.map((each) => Buffer.from(each))
  }

  without(text: string): string {
    const plain = this.#forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
    return this.#forms.length === 0 ? text : withoutEscaped(plain, this.#forms)
  }

  withoutIn(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (!this.#signs.some((sign) => buffer.includes(sign))) return bytes
    const text = buffer.toString('latin1')
    const clean = this.without(text)
    return clean === text ? bytes : Buffer.from(clean, 'latin1')
  }
}

/** A secret as it is, in hexadecimal, and inside of Base64 at each of the three places it may begin. */
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
  return [secret, hex, hex.toUpperCase(), ...base64, ...urls]
}

/** What JSON and URLs escape a character of ASCII with; JSON within JSON escapes the backslash too. */
const ESCAPE = /\\{1,2}u00([2-7][0-9A-Fa-f])|%(?:25)?([2-7][0-9A-Fa-f])|\\{1,3}(["/\\])/g
const QUOTED = ['"', '/', '\\']

/** `\\u0066`. */
const LONGEST_CHARACTER = 7

/** Without the forms that are there only when escapes are read as what they stand for. */
function withoutEscaped(text: string, forms: readonly string[]): string {
  const parts: string[] = []
  /** Where in the text, and where in what is read, an escape ends. */
  const ends: { readonly text: number; readonly read: number }[] = []
  let copied = 0
  let length = 0
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, json, url, quoted] = match
    const part = text.slice(copied, match.index)
    parts.push(part, quoted ?? String.fromCharCode(Number.parseInt(json ?? url ?? '', 16)))
    copied = match.index + whole.length
    length += part.length + 1
    ends.push({ text: copied, read: length })
  }
  if (copied === 0) return text
  const read = parts.join('') + text.slice(copied)
  const found = forms.flatMap((form) => placesOf(read, form)).sort((a, b) => a.begin - b.begin)
  if (found.length === 0) return text
  return cut(
    text,
    found.map(({ begin, end }) => ({ begin: placeIn(ends, begin), end: placeIn(ends, end) })),
  )
}

interface Span {
  readonly begin: number
  readonly end: number
}

function placesOf(text: string, form: string): Span[] {
  const places: Span[] = []
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
    places.push({ begin: at, end: at + form.length })
  }
  return places
}

/** Where in the text the character begins, escaped or not, that is read at `at`. */
function placeIn(ends: readonly { text: number; read: number }[], at: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ends[middle]?.read ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const before = ends[low - 1]
  return before === undefined ? at : before.text + at - before.read
}

/** The text with a mark in the place of each span; the spans are in order and may overlap. */
function cut(text: string, spans: readonly Span[]): string {
  const kept: string[] = []
  let copied = 0
  for (const { begin, end } of spans) {
    if (begin >= copied) kept.push(text.slice(copied, begin), REDACTED)
    copied = Math.max(copied, end)
  }
  return kept.join('') + text.slice(copied)
}

/** Every run of characters of a secret that is long enough to tell it, by its length. */
function piecesOf(secrets: readonly string[]): Map<number, Set<string>> {
  const pieces = new Map<number, Set<string>>()
  for (const secret of secrets) {
    const size = Math.min(16, Math.max(MIN_LENGTH_IN_DATA, Math.ceil(secret.length / 4)))
    for (let at = 0; at + size <= secret.length; at += 1) {
      const known = pieces.get(size) ?? new Set()
      pieces.set(size, known.add(secret.slice(at, at + size)))
    }
  }
  return pieces
}

function withoutPieces(text: string, pieces: ReadonlyMap<number, ReadonlySet<string>>): string {
  let clean = text
  for (const [size, known] of pieces) clean = withoutPiecesOf(clean, size, known)
  return clean
}

function withoutPiecesOf(text: string, size: number, known: ReadonlySet<string>): string {
  const spans: Span[] = []
  for (let at = 0; at + size <= text.length; at += 1) {
    if (!known.has(text.slice(at, at + size))) continue
    const last = spans.at(-1)
    if (last !== undefined && at <= last.end)
      spans[spans.length - 1] = { begin: last.begin, end: at + size }
    else spans.push({ begin: at, end: at + size })
  }
  return cut(text, spans)
}
