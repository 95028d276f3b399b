/** One item of a structured list (RFC 9651): its name or number, and its parameters. */
export interface ListItem {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

const STRING = String.raw`"(?:[^"\\]|\\["\\])*"`
const NUMBER = String.raw`-?\d{1,15}(?:\.\d{1,3})?`
const TOKEN = String.raw`[A-Za-z*][\w!#$%&'*+.^|~:/\x60-]*`
const BYTES = String.raw`:[A-Za-z0-9+/=]*:`
const BARE = `${STRING}|${NUMBER}|${TOKEN}|${BYTES}|\\?[01]`
const ITEM = new RegExp(`(?:${BARE})`, 'y')
const PARAMETER = new RegExp(`; *([a-z*][a-z0-9_.*-]*)(?:=(${BARE}))?`, 'y')
const COMMA = /[ \t]*,[ \t]*/y

/** The items of a list; undefined when any part of it is malformed (RFC 9651, section 4.2). */
export function parseList(field: string): ListItem[] | undefined {
  const text = field.trim()
  const items: ListItem[] = []
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match !== null) at = pattern.lastIndex
    return match
  }
  for (;;) {
    const bare = next(ITEM)
    if (bare === null) return undefined
    const parameters = new Map<string, string>()
    for (let found = next(PARAMETER); found !== null; found = next(PARAMETER)) {
      parameters.set(found[1] ?? '', unquoted(found[2] ?? '?1'))
    }
    items.push({ value: unquoted(bare[0]), parameters })
    if (at === text.length) return items
    if (next(COMMA) === null) return undefined
  }
}

function unquoted(bare: string): string {
  return bare.startsWith('"') ? bare.slice(1, -1).replaceAll(/\\(.)/g, '$1') : bare
}

const MEMBER = /^([a-z]+)=(\d{1,15})(?:;.*)?$/

/** A dictionary of whole numbers, `limit=100, remaining=5`; undefined when malformed. */
export function parseNumbers(field: string): ReadonlyMap<string, number> | undefined {
  const numbers = new Map<string, number>()
  for (const part of field.split(',')) {
    const member = MEMBER.exec(part.trim())
    if (member === null) return undefined
    numbers.set(member[1] ?? '', Number(member[2]))
  }
  return numbers
}
