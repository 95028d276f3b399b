import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import { isDeeperThan } from '../lib/json-text.ts'

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
 * The tree of a JSON text (RFC 8259), so that it can be edited without being
 * rewritten: numbers, order, blanks and spellings stay as they are. Neither
 * comments nor trailing commas are allowed.
 *
 * @throws JsonSyntaxError
 */
export function parseJsonTree(text: string): JsonNode {
  if (isDeeperThan(text, MAX_DEPTH)) throw new JsonSyntaxError(TOO_DEEP, text, 0)
  const errors: ParseError[] = []
  const root = parseTree(text.replace(/^\uFEFF/, ' '), errors, { disallowComments: true })
  const [error] = errors
  if (error !== undefined) throw new JsonSyntaxError(said(error), text, error.offset)
  if (root === undefined) throw new JsonSyntaxError('value expected', text, 0)
  return nodeOf(root)
}

/** Deeper than any settings; the parser calls itself. */
const MAX_DEPTH = 500

const TOO_DEEP = `nested more than ${MAX_DEPTH} deep`

/** `CommaExpected` is "comma expected". */
function said({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()
}

function nodeOf({ type, offset: start, length, value, children = [] }: Node): JsonNode {
  const end = start + length
  if (type === 'array') return { kind: 'array', start, end, items: children.map(nodeOf) }
  if (type !== 'object') return { kind: 'scalar', start, end, value: scalarOf(value) }
  const members = children.flatMap(({ offset, children: [key, member] = [] }) =>
    member === undefined ? [] : [{ key: String(key?.value), start: offset, value: nodeOf(member) }],
  )
  return { kind: 'object', start, end, members }
}

function scalarOf(value: unknown): JsonScalar['value'] {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : null
}
