import * as library from '@huggingface/jinja'
import { z } from 'zod'
import { ProjectError, requireKnown, type Place } from './errors.ts'

/** Only this file imports the template library. Its own types do not resolve, so it is typed here. */

export interface Token {
  readonly type: string
  readonly value: string
}

/** A parsed template. */
export interface Program {
  readonly type: string
}

interface Environment {
  set: (name: string, value: unknown) => unknown
}

const { tokenize, parse, Environment, Interpreter } = z
  .object({
    tokenize: z.custom<(text: string) => readonly Token[]>(isFunction),
    parse: z.custom<(tokens: Token[]) => Program>(isFunction),
    Environment: z.custom<new () => Environment>(isFunction),
    Interpreter:
      z.custom<new (environment: Environment) => { run: (program: Program) => unknown }>(
        isFunction,
      ),
  })
  .parse(library)

/** Renders a parsed template; the functions among `globals` get plain arguments. */
export type Template = (globals: Readonly<Record<string, unknown>>) => string

export function parsed(tokens: readonly Token[]): Program {
  return parse([...tokens])
}

/** A template that renders `program`, which may call the macros in `definitions`. */
export function templateOf(program: Program, definitions: Program): Template {
  return (globals) => {
    const environment = new Environment()
    for (const [name, value] of Object.entries(globals)) environment.set(name, value)
    const interpreter = new Interpreter(environment)
    interpreter.run(definitions)
    return z.object({ value: z.string() }).parse(interpreter.run(program)).value
  }
}

/**
 * Unwraps an argument of a called function. The library passes the unwrapped value of each
 * argument, and keyword arguments as a Map at the end, but the elements of lists and maps
 * are still wrapped.
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

/** A token within a tag; lines are counted from 1. */
export interface PlacedToken extends Token {
  readonly line: number
}

/** `{% … %}` or `{{ … }}`; `tokens` are those within. */
export interface Tag {
  readonly kind: 'statement' | 'expression'
  readonly line: number
  readonly lastLine: number
  readonly tokens: readonly PlacedToken[]
}

export type Part = Token | Tag

export function isTag(part: Part): part is Tag {
  return 'kind' in part
}

/**
 * Groups the tokens of each tag, with dbt's white space rules.
 *
 * @throws the library's error for an invalid template.
 */
export function gather(text: string): Part[] {
  const lineOf = lineFinder(text)
  const parts: Part[] = []
  let open: PlacedToken[] = []
  for (const token of tokenize(text)) {
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

/** Tokens whose value differs from their text. */
const SPELLINGS: Readonly<Record<string, RegExp>> = {
  Comment: /\{#.*?#\}/gs,
  StringLiteral: /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs,
}

/** Finds the line of each token by searching the text, because tokens carry no line. Call it in their order. */
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

/** The only functions of templates besides macros. */
export const FUNCTIONS: readonly string[] = ['ref', 'source', 'config', 'var', 'is_incremental']

const STATEMENTS = ['set', 'endset', 'if', 'elif', 'else', 'endif', 'for', 'endfor']
const WORDS = new Set([
  ...['in', 'not', 'and', 'or', 'is', 'if', 'else'],
  ...['true', 'false', 'none', 'True', 'False', 'None'],
])
const FILTERS = ['default', 'first', 'join', 'last', 'length', 'lower', 'replace', 'trim', 'upper']
const TESTS = ['even', 'none', 'number', 'odd', 'string']

/** The allowed attributes of these names; other names allow any attribute. */
const ATTRIBUTES: ReadonlyMap<string, readonly string[]> = new Map([
  ['this', []],
  ['target', ['name', 'schema', 'type']],
  [
    'loop',
    [
      ...['index', 'index0', 'revindex', 'revindex0'],
      ...['first', 'last', 'length', 'previtem', 'nextitem'],
    ],
  ],
])

/** An open block of the template, and the names that it declares. */
interface Block {
  readonly kind: string
  readonly line: number
  readonly names: Set<string>
}

export interface MacroScope {
  /** The project's macros. */
  readonly macros?: readonly string[]
  /** True in a file of macros; only there can they be defined. */
  readonly definesMacros?: boolean
}

/**
 * Checks that every tag and name of a template is allowed: a name is a function, `this`,
 * or one that `set` or `for` has declared before.
 *
 * @throws ProjectError with file and line.
 */
export function checkNames(tags: readonly Tag[], file: string, scope: MacroScope): void {
  const check = new NameCheck(file, scope)
  for (const tag of tags) {
    if (tag.kind === 'expression') check.use(tag.tokens)
    else check.statement(tag)
  }
  check.finish()
}

class NameCheck {
  readonly #file: string
  readonly #functions: readonly string[]
  readonly #statements: readonly string[]
  readonly #blocks: Block[] = []
  readonly #top = new Set(['this', 'target'])

  constructor(file: string, { macros = [], definesMacros = false }: MacroScope) {
    this.#file = file
    this.#functions = [...FUNCTIONS, ...macros]
    this.#statements = definesMacros ? [...STATEMENTS, 'macro', 'endmacro'] : STATEMENTS
  }

  statement({ tokens: [keyword, ...rest], line }: Tag): void {
    const kind = keyword?.value ?? ''
    requireKnown(this.#at(line), 'tag', kind, this.#statements)
    if (kind.startsWith('end')) {
      this.#need(kind, [kind.slice('end'.length)], line)
      this.#blocks.pop()
    } else if (kind === 'set') {
      const equals = rest.findIndex(({ type }) => type === 'Equals')
      if (equals !== -1) this.use(rest.slice(equals + 1))
      this.#declare(equals === -1 ? rest : rest.slice(0, equals), this.#scope())
      if (equals === -1) this.#open(kind, line)
    } else if (kind === 'for') {
      const within = rest.findIndex((token) => isWord(token, 'in'))
      const names = new Set(['loop'])
      this.#declare(rest.slice(0, Math.max(within, 0)), names)
      this.#open(kind, line, names)
      this.use(rest.slice(within + 1))
    } else if (kind === 'macro') {
      const parameters = rest.slice(1).filter(({ type }) => type === 'Identifier')
      this.#open(kind, line, new Set(parameters.map(({ value }) => value)))
    } else {
      if (kind === 'if') this.#open(kind, line)
      else this.#need(kind, kind === 'elif' ? ['if'] : ['if', 'for'], line)
      this.use(rest)
    }
  }

  /** Checks the names that an expression reads. */
  use(tokens: readonly PlacedToken[]): void {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'Identifier') continue
      const next = tokens[index + 1]
      const [what, known] = expectedAt(tokens, index) ?? []
      if (what !== undefined) this.#among(known, what, token)
      else if (!WORDS.has(token.value) && next?.type !== 'Equals') this.#freeName(token, next)
    }
  }

  finish(): void {
    const open = this.#blocks.at(-1)
    if (open === undefined) return
    throw new ProjectError(this.#at(open.line), `'${open.kind}' has no 'end${open.kind}'`)
  }

  #freeName(token: PlacedToken, next: PlacedToken | undefined): void {
    const { value, line } = token
    if (!this.#functions.includes(value)) {
      const visible = [this.#top, ...this.#blocks.map(({ names }) => names)]
      this.#among([...this.#functions, ...visible.flatMap((names) => [...names])], 'name', token)
    } else if (next?.type !== 'OpenParen') {
      const hint = `Write ${value}(…).`
      throw new ProjectError(this.#at(line), `'${value}' is a function`, { hint })
    }
  }

  #among(known: readonly string[] | undefined, what: string, { value, line }: PlacedToken): void {
    if (known !== undefined) requireKnown(this.#at(line), what, value, known)
  }

  #declare(tokens: readonly PlacedToken[], scope: Set<string>): void {
    for (const { type, value, line } of tokens) {
      if (type !== 'Identifier') continue
      const isTaken = [...this.#functions, 'this', 'target'].includes(value)
      if (isTaken) throw new ProjectError(this.#at(line), `'${value}' cannot be set`)
      scope.add(value)
    }
  }

  #open(kind: string, line: number, names = new Set<string>()): void {
    this.#blocks.push({ kind, line, names })
  }

  #need(kind: string, openers: readonly string[], line: number): void {
    if (openers.includes(this.#blocks.at(-1)?.kind ?? '')) return
    throw new ProjectError(this.#at(line), `'${kind}' without '${openers[0] ?? ''}'`)
  }

  /** Where `set` puts a name: only `for` and `macro` have a scope of their own. */
  #scope(): Set<string> {
    const own = this.#blocks.findLast(({ kind }) => kind === 'for' || kind === 'macro')
    return own?.names ?? this.#top
  }

  #at(line: number): Place {
    return { file: this.#file, line }
  }
}

/** The kind of a name after a dot, a pipe or `is`, and the allowed names, unless all are. */
function expectedAt(
  tokens: readonly PlacedToken[],
  index: number,
): [what: string, known: readonly string[] | undefined] | undefined {
  const [before, previous, token] = [tokens[index - 2], tokens[index - 1], tokens[index]]
  if (previous?.type === 'Dot') {
    const owner = before?.type === 'Identifier' ? before.value : ''
    return [`attribute of ${owner}`, ATTRIBUTES.get(owner)]
  }
  if (previous?.type === 'Pipe') return ['filter', FILTERS]
  const isTest = isWord(previous, 'not')
    ? isWord(before, 'is')
    : isWord(previous, 'is') && token?.value !== 'not'
  return isTest ? ['test', TESTS] : undefined
}

function isWord(token: PlacedToken | undefined, word: string): boolean {
  return token?.type === 'Identifier' && token.value === word
}
