import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import { isDeeperThan } from '../lib/json.ts'

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

/** Deeper than any settings; the parser calls itself. */
const MAX_DEPTH = 500

/**
 * The tree of a JSON text (RFC 8259), so that it can be edited without being
 * rewritten: numbers, order, blanks and spellings stay as they are. Neither
 * comments nor trailing commas are allowed.
 *
 * @throws JsonSyntaxError
 */
export function parseJsonTree(text: string): Node {
  if (isDeeperThan(text, MAX_DEPTH)) {
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
 * The text with one more element at the end of an object or array, written as
 * its neighbours are. Nothing else of the text changes, and `withoutElement`
 * is the exact inverse.
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
  // Blanks in an empty container stay before the element, so that they can be
  // distinguished from those that come with it.
  const closes = endOf(container) - 1
  const isBlank = closes > container.offset + 1
  if (isBlank || isInline) return splice(text, closes, closes, written(element))
  const line = text.slice(text.lastIndexOf('\n', container.offset) + 1, container.offset)
  const base = eol + (/^[ \t]*/.exec(line)?.[0] ?? '')
  const lines = written(element, unit, base + unit)
  return splice(text, closes, closes, `${base}${unit}${lines}${base}`)
}

/** The text without the element at `index`. Blanks that were there before it was put in stay. */
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

/** The text with another value in the place of one. */
export function withValue(text: string, node: Node, value: unknown): string {
  return splice(text, node.offset, endOf(node), JSON.stringify(value))
}

/** On one line; with `unit`, the step of indentation, on several, each but the first after `start`. */
function written({ key, value }: NewElement, unit = '', start = ''): string {
  const lines = JSON.stringify(value, null, unit).replaceAll('\n', start)
  return key === undefined ? lines : `${JSON.stringify(key)}: ${lines}`
}

/** How the text is written, as far as its first member says. */
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

/** What stands before an element on its line; undefined where the blanks end no line. */
function indentIn(blanks: string): string | undefined {
  return blanks.includes('\n') ? blanks.slice(blanks.lastIndexOf('\n') + 1) : undefined
}

function endOf({ offset, length }: Node): number {
  return offset + length
}

function splice(text: string, start: number, end: number, instead: string): string {
  return text.slice(0, start) + instead + text.slice(end)
}
