import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import { isTooDeep } from '../lib/json.ts'

/** Invalid JSON; line and column are counted from 1. */
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

/** Deeper than any settings; the parser is recursive. */
const MAX_DEPTH = 500

/**
 * The tree of a JSON text (RFC 8259), so that a part of the text can be edited and the rest
 * stays: numbers, order, white space and spellings. Neither comments nor trailing commas are
 * allowed.
 *
 * @throws JsonSyntaxError
 */
export function parseJsonTree(text: string): Node {
  if (isTooDeep(text, MAX_DEPTH)) {
    throw new JsonSyntaxError(`nested more than ${MAX_DEPTH} deep`, text, 0)
  }
  const errors: ParseError[] = []
  const root = parseTree(text.replace(/^\uFEFF/, ' '), errors, { disallowComments: true })
  const [error] = errors
  if (error !== undefined) throw new JsonSyntaxError(wordsOf(error), text, error.offset)
  if (root === undefined) throw new JsonSyntaxError('value expected', text, 0)
  return root
}

/** `CommaExpected` is "comma expected". */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()
}

interface NewElement {
  readonly key?: string
  readonly value: unknown
}

/**
 * Adds an element at the end of an object or array, formatted like its neighbours. The rest
 * of the text stays, and `withoutElement` is the exact inverse.
 */
export function withElement(text: string, container: Node, element: NewElement): string {
  const { isInline, unit, eol } = styleOf(text)
  const [first, last] = [container.children?.[0], container.children?.at(-1)]
  if (first !== undefined && last !== undefined) {
    const indent = indentIn(text.slice(container.offset + 1, first.offset))
    const added =
      indent === undefined
        ? ` ${written(element)}`
        : `${eol}${indent}${written(element, unit, eol + indent)}`
    return splice(text, endOf(last), endOf(last), `,${added}`)
  }
  // Blanks in an empty container stay before the element, which distinguishes them from
  // added ones.
  const closes = endOf(container) - 1
  const isBlank = closes > container.offset + 1
  if (isBlank || isInline) return splice(text, closes, closes, written(element))
  const line = text.slice(text.lastIndexOf('\n', container.offset) + 1, container.offset)
  const base = eol + (/^[ \t]*/.exec(line)?.[0] ?? '')
  const lines = written(element, unit, base + unit)
  return splice(text, closes, closes, `${base}${unit}${lines}${base}`)
}

/** Removes the element at `index`. Blanks that were there before it was added stay. */
export function withoutElement(text: string, container: Node, index: number): string {
  const { children = [] } = container
  const [before, element, after] = [children[index - 1], children[index], children[index + 1]]
  if (element === undefined) return text
  if (after !== undefined) return splice(text, element.offset, after.offset, '')
  if (before !== undefined) return splice(text, endOf(before), endOf(element), '')
  const closes = endOf(container) - 1
  const isAtTheEnd = endOf(element) === closes
  return splice(text, isAtTheEnd ? element.offset : container.offset + 1, closes, '')
}

export function withValue(text: string, node: Node, value: unknown): string {
  return splice(text, node.offset, endOf(node), JSON.stringify(value))
}

/** The element on one line or, with `unit` (one step of indentation), on several: `start` precedes each but the first. */
function written({ key, value }: NewElement, unit = '', start = ''): string {
  const lines = JSON.stringify(value, null, unit).replaceAll('\n', start)
  return key === undefined ? lines : `${JSON.stringify(key)}: ${lines}`
}

/** The format of the text, derived from its first member. */
function styleOf(text: string) {
  const { offset, children: [first] = [] } = parseJsonTree(text)
  const indent = first === undefined ? '' : indentIn(text.slice(offset + 1, first.offset))
  return {
    /** The first member is on the line of its brace. */
    isInline: indent === undefined,
    /** One step of indentation. */
    unit: indent !== undefined && /^(\t+| {1,10})$/.test(indent) ? indent : '  ',
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}

/** The indentation in the blanks before an element; undefined if they contain no line end. */
function indentIn(blanks: string): string | undefined {
  return blanks.includes('\n') ? blanks.slice(blanks.lastIndexOf('\n') + 1) : undefined
}

function endOf({ offset, length }: Node): number {
  return offset + length
}

function splice(text: string, start: number, end: number, instead: string): string {
  return text.slice(0, start) + instead + text.slice(end)
}
