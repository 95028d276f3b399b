import { grouped } from '../grouped.ts'

/** What stands in the place of a secret that is known. */
export const REDACTED = '[redacted]'

/** A shorter text is no credential, and taking it out would spoil ordinary words. */
const MIN_LENGTH = 4

/** The least that is taken out of data: there a short secret would be found by chance. */
const MIN_LENGTH_IN_DATA = 8

/**
 * Secrets whose text is known, such as the credential of a client: takes them out
 * of whatever a server answers, in capitals or small letters, as they are and as
 * JSON, URLs (encoded up to five times), HTML entities, Base64 and hexadecimal spell
 * them. A character that is escaped in two of these ways is not looked for.
 */
export class KnownSecrets {
  /** In small letters. */
  readonly #secrets: readonly string[]
  readonly #inText: Spellings
  readonly #inData: Spellings

  constructor(secrets: readonly string[]) {
    const all = [...new Set(secrets.map((secret) => secret.trim()))]
    this.#secrets = all.map(inSmallLetters)
    this.#inText = new Spellings(all.filter(({ length }) => length >= MIN_LENGTH))
    this.#inData = new Spellings(all.filter(({ length }) => length >= MIN_LENGTH_IN_DATA))
  }

  /** Any text without the secrets. */
  text(text: string): string {
    return this.#inText.without(text)
  }

  /** What a server says in an error, also without pieces of a secret, as where it was cut off. */
  message(text: string): string {
    return this.#secrets.reduce(withoutPieces, this.text(text))
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

  /**
   * Takes the secrets out of a body that comes in pieces, of which a secret may lie in two;
   * its other bytes stay as they were. It is handed on as late as is needed to know that no
   * secret begins at its end.
   */
  stream(): SecretFilter {
    const { longest } = this.#inData
    let pending: Uint8Array = new Uint8Array()
    return {
      write: (piece) => {
        if (longest === 0) return piece
        const all = Buffer.concat([pending, piece])
        const text = all.toString('latin1')
        const found = this.#inData.without(text)
        const clean = found === text ? all : Buffer.from(found, 'latin1')
        const end = Math.max(0, clean.byteLength - longest + 1)
        pending = clean.subarray(end)
        return clean.subarray(0, end)
      },
      end: () => pending,
    }
  }
}

interface SecretFilter {
  /** What is known to hold no secret: perhaps nothing yet. */
  readonly write: (piece: Uint8Array) => Uint8Array
  /** What is left at the end. */
  readonly end: () => Uint8Array
}

/** Every way in which secrets may be spelled. */
class Spellings {
  /** Characters of the longest. */
  readonly longest: number
  readonly #forms: readonly string[]
  /** The forms by their first characters, as many as the shortest has. */
  readonly #index: ReadonlyMap<string, readonly string[]>
  readonly #beginning: number
  /** Without any of these nothing is escaped: a quick check before the slow one. */
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

  /** One pass for all forms: what it takes does not grow with their number. */
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

/** So many forms are faster found one by one than in one pass. */
const FEW = 64

/** The text in small letters, each where it was. */
function inSmallLetters(text: string): string {
  const small = text.toLowerCase()
  if (small.length === text.length) return small // but for a dotted I, which becomes two
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
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
  return [secret, hex, ...base64, ...urls]
}

/**
 * What JSON, URLs and HTML escape a character of ASCII with. JSON within JSON escapes
 * the backslash too, a URL within a URL the per cent sign, HTML within HTML the ampersand.
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

/** The characters that HTML has a name for. */
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

/** `&amp;amp;#00000115;`. */
const LONGEST_CHARACTER = 20

interface Reading {
  /** The text, its escapes as the characters that they stand for. */
  readonly read: string
  /** Where in the text, and where in what is read, an escape ends. */
  readonly ends: readonly { readonly text: number; readonly read: number }[]
}

function readingOf(text: string): Reading {
  const parts: string[] = []
  const ends: { readonly text: number; readonly read: number }[] = []
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
  if (spans.length === 0) return text
  const pieces: string[] = []
  let copied = 0
  for (const { begin, end } of spans) {
    if (begin >= copied) pieces.push(text.slice(copied, begin), REDACTED)
    copied = Math.max(copied, end)
  }
  return pieces.join('') + text.slice(copied)
}

/** The text without runs of a secret, in small letters, that are long enough to identify it. */
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
