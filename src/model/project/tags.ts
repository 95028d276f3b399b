import * as library from '@huggingface/jinja'
import { z } from 'zod'

/** The one door to the template library. Its own types do not resolve, so it is typed here. */

const tokenShape = z.object({ type: z.string(), value: z.string() })

export type Token = z.output<typeof tokenShape>

interface Environment {
  set: (name: string, value: unknown) => unknown
}

const { tokenize, parse, Environment, Interpreter } = z
  .object({
    tokenize: z.custom<(text: string) => unknown>(isFunction),
    parse: z.custom<(tokens: Token[]) => unknown>(isFunction),
    Environment: z.custom<new () => Environment>(isFunction),
    Interpreter:
      z.custom<new (environment: Environment) => { run: (program: unknown) => unknown }>(
        isFunction,
      ),
  })
  .parse(library)

/** Renders a parsed template; the functions among `globals` get plain arguments. */
export type Template = (globals: Readonly<Record<string, unknown>>) => string

/** Tokens of a template, with dbt's white space rules. */
function lex(text: string): Token[] {
  return z.array(tokenShape).parse(tokenize(text))
}

export function compile(tokens: readonly Token[]): Template {
  const program = parse([...tokens])
  return (globals) => {
    const environment = new Environment()
    for (const [name, value] of Object.entries(globals)) environment.set(name, value)
    return z.object({ value: z.string() }).parse(new Interpreter(environment).run(program)).value
  }
}

/**
 * An argument of a called function as plain data. The library hands over the
 * inside of each argument, and keyword arguments as one Map at the end, so
 * lists and maps still hold its own wrappers.
 */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]))
  }
  if (typeof value === 'object' && value !== null && 'value' in value) return plain(value.value)
  return value
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** A token inside a tag and its line, from 1. */
export interface PlacedToken extends Token {
  readonly line: number
}

/** `{% … %}` or `{{ … }}`; `tokens` is what is between. */
export interface Tag {
  readonly kind: 'statement' | 'expression'
  readonly line: number
  /** The line it ends on. */
  readonly lastLine: number
  readonly tokens: readonly PlacedToken[]
}

/** The tokens of a template: text and comments as they are, those of a tag together. */
export type Part = Token | Tag

export function isTag(part: Part): part is Tag {
  return 'kind' in part
}

/** Gathers the tokens of each tag. @throws the library's error at what it cannot read. */
export function gather(text: string): Part[] {
  const lineOf = lineFinder(text)
  const parts: Part[] = []
  let open: PlacedToken[] = []
  for (const token of lex(text)) {
    if (token.type === 'Text') {
      parts.push(token)
      continue
    }
    const placed = { ...token, line: lineOf(token) }
    const [, end, kind] = /^(Open|Close)(Statement|Expression)$/.exec(token.type) ?? []
    if (token.type === 'Comment') parts.push(token)
    else if (end === 'Open') open = [placed]
    else if (end === undefined) open.push(placed)
    else {
      const [first = placed, ...tokens] = open
      const name = kind === 'Statement' ? 'statement' : 'expression'
      parts.push({ kind: name, line: first.line, lastLine: placed.line, tokens })
    }
  }
  return parts
}

/** Tokens whose value is not as the text spells them. */
const SPELLINGS: Readonly<Record<string, RegExp>> = {
  Comment: /\{#.*?#\}/gs,
  StringLiteral: /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs,
}

/** Finds each token again in the text, because it carries no line; to be asked in their order. */
function lineFinder(text: string): (token: Token) => number {
  let index = 0
  let line = 1
  const moveTo = (next: number): number => {
    line += text.slice(index, next).split('\n').length - 1
    index = next
    return line
  }
  return ({ type, value }) => {
    const spelling = SPELLINGS[type]
    if (spelling !== undefined) spelling.lastIndex = index
    const found = spelling?.exec(text)
    const start = found?.index ?? text.indexOf(value, index)
    const first = moveTo(start)
    moveTo(start + (found?.[0] ?? value).length)
    return first
  }
}
