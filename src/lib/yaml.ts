import {
  constructFromEvents,
  EVENT_ID,
  getScalarValue,
  parseEvents,
  YAMLException,
  type Event,
} from 'js-yaml'

export type YamlDocument = Readonly<ReturnType<typeof readYamlText>>

/** The text is not one YAML document. Neither the message nor a cause quotes it. */
export class YamlError extends Error {
  override name = 'YamlError'
  /** Counted from 1. */
  readonly line: number | undefined
  readonly column: number | undefined

  constructor(message: string, mark?: YAMLException['mark']) {
    super(message)
    this.line = mark && mark.line + 1
    this.column = mark && mark.column + 1
  }
}

/** No person writes more, and with many a small text becomes a huge value. */
const MAX_ALIASES = 100

/** Reads a text by the core schema of YAML 1.2; without a document, the value is undefined. @throws YamlError */
export function readYamlText(text: string) {
  try {
    const events = parseEvents(text, {})
    const documents = constructFromEvents(events, { source: text, maxAliases: MAX_ALIASES })
    if (documents.length > 1) {
      throw new YamlError('the file has several documents, but must be one')
    }
    return { value: documents[0], lineOf: linesOf(events, text) }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // a quoted tag or alias may be an unquoted value that begins with ! or *
    throw new YamlError(error.reason.replace(/ (?:"|!<).*/s, ''), error.mark)
  }
}

/** Returns the line, counted from 1, of the key or item at a path, or of the deepest one that exists. */
function linesOf(events: readonly Event[], text: string) {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  const root = entriesOf(events, text)
  return (path: readonly PropertyKey[]): number | undefined => {
    let entries: Entries | undefined = root
    let found: number | undefined
    for (const step of path) {
      const entry: Entry | undefined = entries?.get(String(step))
      found = entry?.start ?? found
      entries = entry?.entries
    }
    const offset = found
    return offset === undefined ? undefined : starts.findLastIndex((at) => at <= offset) + 1
  }
}

type Entries = ReadonlyMap<string, Entry>

/** `start`: the offset of the key, or of the item of a sequence; undefined for an empty item. */
interface Entry {
  readonly start: number | undefined
  readonly entries: Entries
}

/** The keys or items of the document, and theirs. */
function entriesOf(events: readonly Event[], text: string): Entries {
  const left = events.filter(({ type }) => type !== EVENT_ID.DOCUMENT).values()
  const next = (): Event => left.next().value ?? { type: EVENT_ID.POP }
  const entriesIn = (parent: Event): Entries => {
    const entries = new Map<string, Entry>()
    const isSequence = parent.type === EVENT_ID.SEQUENCE
    if (!isSequence && parent.type !== EVENT_ID.MAPPING) return entries
    for (let event = next(); event.type !== EVENT_ID.POP; event = next()) {
      const own = entriesIn(event)
      const start = startOf(event)
      if (isSequence) entries.set(String(entries.size), { start, entries: own })
      else {
        const key = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : ''
        entries.set(key, { start, entries: entriesIn(next()) })
      }
    }
    return entries
  }
  return entriesIn(next())
}

/** Undefined for an empty item; where there is something, an anchor and a tag come before it. */
function startOf(event: Event): number | undefined {
  if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return undefined
  const value = 'start' in event ? event.start : 'valueStart' in event ? event.valueStart : -1
  const tag = 'tagStart' in event ? event.tagStart : -1
  return [event.anchorStart, tag, value].filter((at) => at >= 0).sort((a, b) => a - b)[0]
}
