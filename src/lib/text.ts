/**
 * Characters that a terminal executes or does not show: controls (C0, C1) except line
 * ends and tabs, characters that change the direction of writing or have no width, and lone
 * surrogates. Joiners are allowed between non-ASCII characters, where scripts and emoji
 * need them.
 */
const DECEIVING = String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\p{Cs}]|[\u200c\u200d](?![^\u0000-\u007f])|(?<![^\u0000-\u007f])[\u200c\u200d]`

const deceiving = new RegExp(DECEIVING, 'gu')
const onOneLine = new RegExp(`(?:[\\n\\t]|${DECEIVING})+`, 'gu')

/** Printable ASCII and line ends: the usual case, which needs no replacement. */
const PLAIN = /^[\n\t\x20-\x7e]*$/

/**
 * Escapes every character that a terminal would execute or not show: it becomes `\u` and
 * its code, which in a JSON string is the same character. Everything that a command
 * writes on a terminal goes through this.
 */
export function safeText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replaceAll(deceiving, (char, at: number) =>
    char === '\r' && text[at + 1] === '\n' ? char : unicodeEscape(char),
  )
}

/** The text on one line, without characters that a terminal or a log reader would execute. */
export function oneLine(text: string): string {
  return text.replaceAll(onOneLine, ' ').trim()
}

/** The character as a JSON escape: `\u` and its code, twice for a surrogate pair. */
export function unicodeEscape(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** The length of the longest text. Not by a spread, which fails for very many. */
export function longest(texts: readonly string[]): number {
  return texts.reduce((most, { length }) => Math.max(most, length), 0)
}

/** At most `most` characters; surrogate pairs stay whole. */
export function cut(text: string, most: number): string {
  const characters = Array.from(text)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** Text for HTML, a chat or a desktop, where `&` and `<` begin markup. */
export function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A word of a command for a POSIX shell, in quotes if it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Bytes in powers of a thousand, with at least two digits: `512 B`, `1.2 MB`, `20 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1000 ** power
  const shown = amount < 9.95 ? amount.toFixed(1) : String(Math.round(amount))
  // 999.6 kB is 1.0 MB, not 1000 kB.
  if (shown === '1000' && power < UNITS.length) return size(1000 ** (power + 1))
  return `${shown} ${UNITS[power - 1] ?? 'TB'}`
}

/**
 * The names in the values of an option, each of which is a known name, which may contain a comma,
 * or names separated by commas.
 */
export function splitNames(values: readonly string[], known: ReadonlySet<string>): string[] {
  const names = values.flatMap((value) =>
    known.has(value) ? [value] : value.split(',').map((name) => name.trim()),
  )
  return [...new Set(names)]
}

/** The candidate most similar to `name`; undefined if none is similar. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const similar = [...candidates].flatMap((candidate) => {
    const count = edits(name.toLowerCase(), candidate.toLowerCase())
    const longer = Math.max(name.length, candidate.length)
    // as many edits as characters replace the whole name
    return count <= Math.max(2, name.length / 3) && count < longer ? [{ candidate, count }] : []
  })
  return similar.sort((a, b) => a.count - b.count)[0]?.candidate
}

/** A hint for an unknown name: the nearest one, else `otherwise`, by default the known names. */
export function suggestion(name: string, candidates: Iterable<string>, otherwise?: string): string {
  const known = [...candidates].sort()
  const near = nearest(name, known)
  if (near !== undefined) return `Did you mean '${near}'?`
  if (otherwise !== undefined) return otherwise
  if (known.length === 0) return 'None is defined.'
  return `Known: ${someOf(known, LISTED)}.`
}

const LISTED = 20

/** Levenshtein's distance: insertions, deletions and replacements from `a` to `b`. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, charA] of Array.from(a).entries()) {
    const next = [i + 1]
    for (const [j, charB] of Array.from(b).entries()) {
      const replaced = (row[j] ?? 0) + (charA === charB ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The first of the names, and how many more there are: `a, b and 3 more`. */
export function someOf(names: readonly string[], most = 5): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}

/** The first five, in quotation marks, and how many more there are. */
export function quotedNames(names: readonly string[]): string {
  return someOf(names.map((name) => `'${name}'`))
}

/** The kind of a JSON value, for messages, which must not quote served data. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (typeof value === 'string') return `a string of ${value.length} characters`
  if (Array.isArray(value)) return `an array of ${value.length} elements`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `1,234,567`, rounded. Not by Intl, which takes 30 ms to load at the start of every command. */
export function digits(count: number | bigint): string {
  const whole = typeof count === 'bigint' ? count : Math.round(count)
  return String(whole).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `1 day`, `2 days`. */
export function counted(count: number, noun: string): string {
  return `${digits(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** An error without dates and the id of its request: the same for what failed alike. */
export function errorPattern(error: string, requestId: string | null = null): string {
  return error.replaceAll(requestId ?? REQUEST_NOTE, '').replaceAll(DATE, '')
}

const REQUEST_NOTE = /\(request [^)]+\)/g

const DATE = /\d{4}-\d\d-\d\d/g
